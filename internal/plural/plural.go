// Package plural counts things in words.
package plural

import (
	"fmt"
	"strings"
)

// Count is a number and a noun, which is given in the singular: "1 run", "2 runs", "3 processes".
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
