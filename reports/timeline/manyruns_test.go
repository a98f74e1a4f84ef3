package timeline

import _ "redlocksim/internal/manyruns"
