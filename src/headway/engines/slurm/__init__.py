"""An existing Slurm cluster, one `sbatch` for each attempt."""
