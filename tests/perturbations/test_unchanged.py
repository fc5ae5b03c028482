from shaketable.perturbations.unchanged import Unchanged


def test_all_hits_stay_as_they_are(example, shake, gold):
    question = example()
    evidence = shake(Unchanged(), question)
    assert evidence.hits == tuple(gold(question))
    assert evidence.edits == evidence.flags == ()
