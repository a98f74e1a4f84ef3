package protocols

import (
	"fmt"
	"strings"
	"time"
)

const overAlready = "it was already over when it was "

// Over is why nobody believes in a lease of which its program says itself that it is over: it has granted, extended or renewed
// it for no more than zero. It is for Env.Disbelieve.
func Over(done string, valid time.Duration) string {
	return fmt.Sprintf("%s%s (valid for %v)", overAlready, done, valid)
}

// IsOver says that a belief has ended for that reason, and goes on from "when it was ".
func IsOver(why string) (done string, is bool) { return strings.CutPrefix(why, overAlready) }
