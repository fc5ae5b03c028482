"""Question → wordings."""

CATALOG: dict[str, str] = {
    "original": "original:Original",
    "prefix_injection": "prefix_injection:PrefixInjection",
    "term_augmentation": "term_augmentation:TermAugmentation",
}
