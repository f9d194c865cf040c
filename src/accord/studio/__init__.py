"""The web page where people judge and see what the judgements say."""
