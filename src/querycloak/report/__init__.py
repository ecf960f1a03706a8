"""Reports: what a comparison found, as JSON, CSV and one HTML file."""
