import numpy as np
import pytest
from scipy import stats
from toys import TOY, toy

from shaketable.facts.curves.leftover import Leftover, _columns, clopper_pearson
from shaketable.facts.curves.predicate import Predicate
from shaketable.facts.curves.tree import Tree

TEMPERATURES = np.array([0.5, 1.0, 1.5, 2.0])
TRUTH = np.array([0.994957391, 0.901023497, 0.7487521, 0.632074674])  # The worked toy, summed out.


def sampled(n, seed, temperatures=(1.0, 2.0), n_nodes=2):
    tree = Tree(Predicate(["alfabeta"], TOY), n_tokens=4, targets=[1.0])
    while len(tree.nodes) < n_nodes:
        (best,) = tree.best_open(1)
        tree.add(best, toy(best))
    leftover = Leftover(tree, temperatures, np.random.default_rng(seed))
    requests = leftover.follow(leftover.draw(n))
    try:
        wanted = next(requests)
        while True:
            wanted = requests.send([toy(suffix) for suffix in wanted])
    except StopIteration:
        return leftover


def test_the_interval_of_the_worked_example():
    """3 of 60 paths correct, .41 sure and .30 open: .425 in [.413130, .451773]."""
    low, high = clopper_pearson(np.array([3.0]), np.array([60.0]), 0.95)
    assert pytest.approx(0.425) == 0.41 + 0.30 * 3 / 60
    assert [0.41 + 0.30 * low[0], 0.41 + 0.30 * high[0]] == pytest.approx([0.413130, 0.451773], abs=1e-6)


@pytest.mark.parametrize(("x", "n"), [(0, 10), (4, 10), (10, 10), (1, 1)])
def test_the_interval_is_that_of_scipy(x, n):
    expected = stats.binomtest(x, n).proportion_ci(0.9, method="exact")
    low, high = clopper_pearson(np.array([float(x)]), np.array([float(n)]), 0.9)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))


def test_many_paths_find_the_truth_at_every_temperature():
    found = sampled(2000, seed=1).estimate(TEMPERATURES, 0.95)
    assert found.value == pytest.approx(TRUTH, abs=0.01)


def test_the_mean_of_many_estimates_from_few_paths_is_the_truth():
    """No paths are taken as failed beforehand: 300 estimates of 20 paths each miss by chance alone."""
    values = np.array(
        [sampled(20, seed, temperatures=(2.0,)).estimate(np.array([2.0]), 0.95).value[0] for seed in range(300)]
    )
    assert values.mean() == pytest.approx(TRUTH[-1], abs=4 * values.std() / np.sqrt(len(values)))


def test_the_mean_of_weights_is_one():
    """Each path stands for as much mass as it was drawn for, also at temperatures at which none was drawn."""
    leftover = sampled(1000, seed=2, temperatures=(1.0, 2.0))
    tree = leftover.tree
    masses = tree.masses(np.concatenate([leftover.temperatures, [1.5]]))
    _, decided = leftover._weigh(_columns(masses, slice(0, 2)), _columns(masses, slice(2, None)))
    # After root and `a` at t = 1.5 the bounds of the tree are the sure part and the open part.
    frozen = Tree(tree.predicate, n_tokens=4, targets=[1.5])
    for suffix in leftover.frozen:
        frozen.add(suffix, toy(suffix))
    (low,), (high,) = frozen.bounds()
    errors = decided[:, 0].std() / np.sqrt(len(decided))
    assert decided[:, 0].mean() == pytest.approx(high - low, abs=4 * errors)


def test_intervals_cover():
    """At a stated level of 95%, of 60 runs with eight paths each."""
    covered = []
    for seed in range(60):
        found = sampled(8, seed).estimate(TEMPERATURES, 0.95)
        assert (found.low <= found.value_low).all() and (found.value_high <= found.high).all()
        assert (found.value_low <= found.value).all() and (found.value <= found.value_high).all()
        covered.append((found.value_low <= TRUTH + 1e-9) & (found.value_high >= TRUTH - 1e-9))
    assert np.mean(covered, axis=0).min() >= 0.95


def test_far_temperatures_have_few_effective_paths():
    found = sampled(40, seed=3, temperatures=(1.0,)).estimate(np.array([1.0, 1.1, 4.0]), 0.95)
    assert found.n_effective[0] == pytest.approx(40, abs=1e-6)
    assert found.n_effective[0] > found.n_effective[1] > found.n_effective[2]


def test_without_paths_there_are_bounds_alone():
    tree = Tree(Predicate(["alfabeta"], TOY), n_tokens=4, targets=[1.0])
    tree.add((), toy(()))
    found = Leftover(tree, [1.0], np.random.default_rng(0)).estimate(TEMPERATURES, 0.95)
    assert np.isnan(found.value).all()
    assert (found.low <= TRUTH).all() and (found.high >= TRUTH).all()
