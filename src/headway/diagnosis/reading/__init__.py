"""From bytes of log files to lines that say when, where and what; knows no cause."""
