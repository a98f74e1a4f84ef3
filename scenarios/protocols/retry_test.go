package protocols

import (
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// random is a host that has nothing but random bytes.
type random struct {
	Host
	bytes *rand.ChaCha8
}

func (r random) Rand() io.Reader { return r.bytes }

// Clients whose delays are all alike ask at the same moments, and get in each other's way for as long as they try.
func TestDelaysAreDrawnFromTheirRange(t *testing.T) {
	s := &session{env: Env{Host: random{bytes: rand.NewChaCha8([32]byte{})}}}
	d := Range{Min: 100 * time.Millisecond, Max: 200 * time.Millisecond}
	lower, upper := 0, 0
	for range 100 {
		switch x := s.within(d); {
		case x < d.Min || x > d.Max:
			t.Fatalf("%v is not from %v to %v", x, d.Min, d.Max)
		case x < 150*time.Millisecond:
			lower++
		default:
			upper++
		}
	}
	if lower < 20 || upper < 20 {
		t.Errorf("%d of 100 delays are in the lower half of the range, and %d in the upper", lower, upper)
	}
}
