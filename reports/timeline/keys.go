package timeline

import (
	"cmp"
	"fmt"
	"time"

	"redlocksim/history"
	"redlocksim/sim/recording"
)

// addKeys adds what the nodes keep, and how many of them keep a client's value.
func (b *builder) addKeys() {
	locks := map[string]bool{}
	for _, e := range b.result.History {
		if e.Kind == history.Call && e.Func == history.Acquire {
			locks[e.Resource] = true
		}
	}
	var held []recording.Kept
	for _, k := range b.result.Recording.Kept {
		owner, kind := b.owner(k.Owner), otherSpan
		if locks[k.Key] {
			kind = keySpan
			if !k.Copy {
				held = append(held, k)
			}
		}
		if k.From == k.To {
			continue // a node that votes and forgets in the same instant has voted, and has no bar
		}
		label := k.Owner
		if owner < 0 {
			label = k.Key
		}
		left := "without a time to live"
		if k.Left > 0 {
			left = fmt.Sprintf("with %v to live", k.Left.Round(time.Millisecond))
		}
		on := ""
		if kind == keySpan {
			on = b.named(k.Key)
			if on != "" && owner >= 0 {
				label += ": " + k.Key
			}
		}
		b.span(k.Node, Span{Kind: kind, Resource: on, From: Instant(k.From), Owner: owner, Key: k.Key, Left: int64(k.Left), Rate: k.Rate, Label: label,
			Text: fmt.Sprintf("%s keeps %q of %s, %s, %s", k.Node, k.Key, cmp.Or(k.Owner, "nobody"), left, b.during(Instant(k.From), int64(k.To)))}, int64(k.To))
	}
	b.addVotes(held)
}
