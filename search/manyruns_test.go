package search_test

import _ "redlocksim/internal/manyruns"
