"""Question → wordings."""

CATALOG: dict[str, str] = {
    "declarative": "declarative:Declarative",
    "disfluency": "disfluency:Disfluency",
    "follow_up": "follow_up:FollowUp",
    "formality": "formality:Formality",
    "frozen": "frozen:Frozen",
    "grammar": "grammar:Grammar",
    "imperative": "imperative:Imperative",
    "keywords": "keywords:Keywords",
    "non_native": "non_native:NonNative",
    "original": "original:Original",
    "prefix_injection": "prefix_injection:PrefixInjection",
    "readability": "readability:Readability",
    "rewrites": "rewrites:Rewrites",
    "spelling": "spelling:Spelling",
    "term_augmentation": "term_augmentation:TermAugmentation",
}
