"""Speech as recipes are fed with it: kept, cropped, damaged, transcribed, and who is kept out."""
