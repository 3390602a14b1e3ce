"""The terms of a report and of the documentation, each explained in one or two sentences."""

GLOSSARY = {
    "row": "One observation: a customer, a document, an image.",
    "feature": "A column of the data that was clustered on.",
    "column": "A column of your data. Columns that were not clustered on are summarised too.",
    "cluster": "A group of rows with one mode.",
    "noise": "Rows that belong to no cluster. Their label is -1.",
    "mode": "The representative of a cluster: the peak of the density of its rows. It is the mean "
    "of the rows around it, in which near rows count most.",
    "center": "The point that decides which rows belong to a cluster: each row belongs to the "
    "nearest center. With bandwidth='auto', the modes are found afterwards.",
    "mean": "The plain mean of the rows of a cluster. Every path starts from means.",
    "exemplar": "The row nearest to the mode of its cluster.",
    "examples": "The rows nearest to the mode of their cluster, the exemplar first.",
    "bandwidth": "How far from a mode rows count. A large bandwidth averages many rows, a small "
    "one few; an infinite one gives the mean of all rows of the cluster.",
    "local scale": "A factor of the bandwidth at a row: small where rows are dense.",
    "kernel": "How the weight of a row falls with its distance from the mode.",
    "metric": "How distances are measured: 'euclidean', or 'cosine', which compares directions.",
    "path": "The clusterings from the means of the initial clusters to the modes, as the bandwidth "
    "becomes smaller.",
    "start": "How the initial clusters were found, from which the path starts.",
    "objective": "What K-modes maximises: the mean kernel value of the rows at the centers of "
    "their clusters. It is between 0 and 1, except for LaplacianKModes.",
    "smoothing": "How strongly LaplacianKModes puts neighbouring rows into the same cluster.",
    "iterations": "How often the algorithm has gone over the rows.",
    "rows averaged": "How many rows a mode averages: (sum of weights)^2 / sum of squared weights.",
    "typical row": "In each column, the mean with the weights of the mode; the commonest category, "
    "and the middle of dates. Missing values are left out.",
    "range": "From the 10% to the 90% quantile, with the weights of the mode.",
    "all rows": "The mean of all rows, with values below the 1% and above the 99% quantile moved "
    "to these quantiles.",
    "spread": "The standard deviation of all rows, with extreme values moved to the 1% and 99% "
    "quantiles.",
    "effect": "How far a cluster is from all rows, in spreads. For a category: the difference "
    "between its shares, divided by the standard deviation of being in it.",
    "sets it apart": "The columns in which the cluster differs most from all rows, by the effect.",
    "share": "The part of the rows, or of the weight of a mode.",
    "missing": "Rows without a value in a column. They count in no mean and no share.",
    "terms": "Words that are frequent in the texts of a cluster and rare in those of others "
    "(c-TF-IDF), or features that are larger in it than in all rows.",
    "nearest cluster": "The cluster with the nearest mode.",
    "stability": "How similar a cluster is if the model is fitted to other samples of the "
    "rows: the mean Jaccard similarity. From 0.85 on, a cluster is stable; do not trust one below "
    "0.6.",
    "mode shift": "How far the mode moves from sample to sample, in distances between neighbouring "
    "rows.",
    "outlier score": "How unusual a row is in its cluster: 0 for a typical row, and 1 more for "
    "each standard deviation. Above 3, a row may be an outlier.",
    "redundant": "Two clusters are redundant if the density between them has no dip that is deeper "
    "than chance: they may be parts of one group.",
    "dip": "A value of low density between two peaks. Hartigan's dip measures how clear it is.",
    "number of clusters": "K. With 'auto', it is chosen from the data by tests: the peaks of "
    "the density, and the dips between clusters.",
    "moved": "How far the mode is from the mean of the initial cluster.",
    "class": "A group that is known in advance, to compare the clusters with.",
    "map": "The rows as points on the two axes along which they vary most.",
}
