//go:build unix

package adaptertest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/redlock/driver"
)

// A batch does and answers what its commands would one after the other, whichever of them are joined.
func aBatchIsItsCommandsInOrder(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			whole, parts := newTable(t, a, server.start(t)), newTable(t, a, server.start(t))
			rapid.Check(t, func(rt *rapid.T) {
				before := rapid.SampledFrom([]string{"", "a=mine:20s b=theirs:20s", "a=list b=mine:20s c=mine:20s", "b=theirs:forever"}).Draw(rt, "before")
				for _, x := range []*table{whole, parts} {
					setState(t, x.db, before)
				}
				words := rapid.SliceOfN(rapid.SampledFrom([]string{
					"acquire a", "acquire b", "acquire c", "acquire a b", "release a", "release b", "release c", "release d", "release b c",
					"extend a", "extend b", "theirs acquire a", "theirs acquire c", "theirs release a", "theirs release c", "wake release b",
				}), 2, 12).Draw(rt, "batch")
				batches := map[*table][]*driver.Command{}
				for _, text := range words {
					for _, x := range []*table{whole, parts} {
						kind, rest, _ := strings.Cut(text, " ")
						if kind != "theirs" && kind != "wake" {
							rest = text
						}
						c := Command(t, rest, TTL)
						if kind == "theirs" {
							c.Value = "theirs"
						}
						c.Wake = kind == "wake"
						batches[x] = append(batches[x], c)
					}
				}
				together := Do(t, whole.node, batches[whole]...)
				for i, c := range batches[parts] {
					one := Do(t, parts.node, c)[0]
					text := func(r driver.Reply) string { return fmt.Sprintf("%v (%v)", r.Outcome, r.Err) }
					if got, want := text(together[i]), text(one); got != want {
						rt.Errorf("%s, of %q: %s in the batch, %s by itself", words[i], words, got, want)
					}
				}
				if got, want := getState(t, whole.db), getState(t, parts.db); got != want {
					rt.Errorf("%q leaves %q in a batch, %q one by one", words, got, want)
				}
			})
		})
	}
}
