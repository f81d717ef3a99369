"""Resynthesis: systems that analyse speech into features and synthesise it in another voice."""
