"""What users import: estimators and functions that validate, call and store."""
