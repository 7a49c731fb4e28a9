"""How well `headway.diagnosis` reads the labelled cases: measures, folds, perturbations, baselines, throughput."""
