//go:build unix

package adaptertest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// Batches that are under way at the same time do not mix.
func manyAtOnce(t *testing.T, a Adapter) {
	m := miniredis.RunT(t)
	node := a.node(t, m.Addr(), Config{})
	const batches = 50
	var wg sync.WaitGroup
	for i := range batches {
		wg.Go(func() {
			a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
			for _, r := range Do(t, node, Command(t, "acquire "+a, TTL), Command(t, "acquire "+b+" shared", TTL)) {
				if r.Err != nil {
					t.Errorf("batch %d: %v", i, r)
				}
			}
		})
	}
	wg.Wait()
	if n := len(m.Keys()); n != batches+2 {
		t.Errorf("%d keys, want %d: one batch alone gets the shared key", n, batches+2)
	}
}
