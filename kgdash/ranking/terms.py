"""The words that the glossary explains, with their texts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word with its text; ``also`` is what else it is called where it is shown."""

    name: str
    text: str
    also: tuple[str, ...] = ()


TERMS = (
    Term(
        "ReliK",
        "Of a triple: ½ (1/rank among the negatives of its head + 1/rank among those of its tail). "
        "1: it beats them all. 0.1: about ten negatives of each end get a higher score. Of a part "
        "of the graph: the mean over its triples. No held-out triple is needed.",
    ),
    Term(
        "ReliK head rank",
        "Place of the triple's score among those of the negatives with its head; 1 is best.",
    ),
    Term(
        "ReliK tail rank",
        "Place of the triple's score among those of the negatives with its tail; 1 is best.",
    ),
    Term(
        "negative",
        "A triple in no split. It is not known to be true, which does not make it false.",
        ("negatives",),
    ),
    Term("known fact", "A triple of train, valid or test.", ("known facts", "known triples")),
    Term("held-out", "In valid or test: the model was not trained on it.", ("held out",)),
    Term(
        "split",
        "Which triples are ranked: test for final figures, valid for choosing a model; ranks of "
        "train flatter it.",
    ),
    Term(
        "rank",
        "Place of the true answer by score among all candidates; 1 is best.",
        ("true rank",),
    ),
    Term("head rank", "Rank of the triple's head among all entities that could stand there."),
    Term("tail rank", "Rank of the triple's tail among all entities that could stand there."),
    Term(
        "relation rank",
        "Rank of the triple's relation among all relations: there are far fewer of them than "
        "entities, so that a high value comes more easily.",
    ),
    Term(
        "reciprocal rank",
        "1/rank: 1 for the first place, ½ for the second. Of a triple: the mean of that of its "
        "head and that of its tail.",
        ("1/rank",),
    ),
    Term(
        "candidate",
        "An entity, or a relation, that could fill the open side of a query.",
        ("candidates", "rivals"),
    ),
    Term(
        "filtered",
        "Candidates that would make another known triple are removed before ranking: they are "
        "right as well. Filter by train+valid for model selection, so that test does not leak.",
        ("known triples filtered out", "filter", "raw"),
    ),
    Term(
        "rank type",
        "How equal scores count. Optimistic: the true answer is first among its equals; "
        "pessimistic: last; realistic: in the middle.",
        ("realistic", "optimistic", "pessimistic"),
    ),
    Term(
        "side",
        "What is asked for: the head of a triple, its tail, or both with their ranks pooled.",
        ("both",),
    ),
    Term(
        "largest tie",
        "Most candidates of one query that share the true answer's score, itself among them.",
    ),
    Term(
        "tied %",
        "Share of ranks whose true answer has the same score as another candidate.",
        ("tied", "tied share"),
    ),
    Term(
        "gap",
        "Between the value by optimistic and that by pessimistic ranks: how much ties blur it.",
    ),
    Term(
        "sLCWA",
        "Stochastic local closed-world assumption: in training, each triple is set against a few "
        "triples made from it at random. LCWA: against all other tails.",
        ("LCWA", "training loop"),
    ),
    Term("degree", "Triples that an entity is the head or tail of.", ("degrees",)),
    Term("frequency", "Train triples with this relation."),
    Term(
        "community",
        "Entities with more triples among them than to the others, found by Louvain's method; "
        "named by the entities with most triples inside.",
        ("communities",),
    ),
    Term(
        "resolution",
        "Of Louvain's method: the higher, the more and the smaller are the communities.",
    ),
    Term("region", "Connected entities around which ReliK is lower or higher than elsewhere."),
    Term(
        "subgraph",
        "Some entities with all known triples between them, such as a random walk collects.",
        ("subgraphs",),
    ),
    Term("seed entity", "The entity that a subgraph is collected around.", ("seed",)),
    Term(
        "restart probability",
        "Chance of returning to the seed entity at each step of the walk; higher stays closer.",
    ),
    Term("hops", "Triples that one follows from the seed entity, at most."),
    Term("random seed", "The same seed gives the same draws, and so the same figures."),
    Term(
        "direction",
        "Follow triples either way, from head to tail, or from tail to head.",
    ),
    Term(
        "interval",
        "95% interval by the bootstrap: where the value would lie, were the triples others of "
        "their kind. None of fewer than 10, or where all values are equal.",
        ("95% low", "95% high"),
    ),
    Term(
        "geometric mean",
        "The mean of the logarithms, turned back: few very high values do not carry it.",
        ("typical",),
    ),
    Term("expected by relations", "Geometric mean that its relations have over the whole graph."),
    Term(
        "p (Holm)",
        "p-value by Holm's correction: of all tests in the table, with 5% chance one or more are "
        "below 0.05 where there is nothing to be found.",
        ("Holm", "p holm"),
    ),
    Term(
        "p (alike)",
        "The same where all triples of a head, of a relation or of a tail are swapped at once, "
        "since they are alike: the largest of the three.",
    ),
    Term(
        "p",
        "p-value: how often chance alone would give a difference, or a region, as great.",
        ("p-value",),
    ),
    Term(
        "p (Wilcoxon)",
        "Signed-rank test: whether differences are symmetric about 0, not whether their mean is 0. "
        "Not corrected.",
    ),
    Term(
        "permutations",
        "Draws of what chance would give. The smallest p-value is 1 / (permutations + 1).",
    ),
    Term(
        "z",
        "How many standard deviations a region's ReliK lies from that of the others.",
        ("|z|",),
    ),
    Term(
        "effect size",
        "The mean difference over the standard deviation of the differences.",
    ),
    Term(
        "ROC-AUC",
        "Chance that a true instance has the higher value than a false one: 0.5 is guessing, 1 "
        "parts them perfectly.",
        ("AUC", "separation AUC"),
    ),
    Term(
        "average precision",
        "Mean precision over the thresholds at which recall grows; guessing has the share of true "
        "instances.",
    ),
    Term(
        "threshold",
        "At or above it an instance, or a triple, is predicted true.",
        ("thresholds",),
    ),
    Term("precision", "Share of true ones among those predicted true."),
    Term("recall", "Share of the true ones predicted true."),
    Term("F1", "Harmonic mean of precision and recall."),
    Term("accuracy", "Share of instances predicted as what they are."),
    Term(
        "easy answer",
        "An answer of a query that the train triples alone lead to.",
        ("easy answers",),
    ),
    Term(
        "hard answer",
        "An answer of a query that needs at least one triple outside train.",
        ("hard answers",),
    ),
    Term(
        "instance",
        "A query with one answer, or a prediction of a rule, labelled true or false.",
        ("instances",),
    ),
    Term(
        "grounding",
        "One way through the graph from a query's anchors to the answer.",
        ("groundings",),
    ),
    Term(
        "PCA confidence",
        "Of a rule: share of right ones among the predictions about heads for which a fact of that "
        "relation is known at all.",
        ("minimum PCA confidence",),
    ),
    Term(
        "support",
        "Of a rule: predictions that are known facts.",
        ("minimum support",),
    ),
    Term(
        "R²",
        "1 − squared error over that of the mean of the subgraphs learnt from: 1 is perfect, 0 no "
        "better than without ReliK, below 0 worse.",
    ),
    Term("MAE", "Mean absolute error.", ("mean absolute error",)),
    Term("RMSE", "Root of the mean squared error."),
    Term(
        "regret",
        "By how much the chosen run falls short of the best one of each part.",
        ("mean regret in MRR",),
    ),
    Term(
        "SD over draws",
        "Standard deviation of the value over draws of the negatives: how much it hangs on chance.",
    ),
    Term(
        "corrected",
        "Each sampled rank is stretched to the number of all candidates (Krichene and Rendle "
        "2020): right on average for the mean rank, less wrong for others. For uniform draws.",
    ),
    Term(
        "Kendall's τ",
        "Agreement of two orders: 1 for the same, 0 for none, −1 for the opposite one.",
    ),
    Term(
        "flips",
        "Pairs of runs that a protocol puts in another order than all candidates do.",
    ),
    Term(
        "protocol",
        "Which candidates the true answer is ranked among: all, or a sample of negatives.",
    ),
    Term(
        "softmax",
        "A candidate's share among all candidates of its query, by scores under a temperature "
        "fitted on validation.",
    ),
)
