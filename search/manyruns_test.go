package search

import _ "redlocksim/internal/manyruns"
