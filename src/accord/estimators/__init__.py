"""scikit-learn classes that people touch; the mathematics lives below."""
