package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/internal/rounded"
	"redlocksim/redlock/observe"
	"redlocksim/sim/network"
)

// addArrows adds the messages.
func (b *builder) addArrows() {
	answers := b.answers()
	for i, m := range b.result.Recording.Messages {
		from, okFrom := b.lanes[m.From]
		to, okTo := b.lanes[m.To]
		if !okFrom || !okTo {
			continue
		}
		a := Arrow{From: from, To: to, Client: from, Sent: Instant(m.Sent), Ended: min(Instant(m.Ended), b.end), Fate: fates[m.Fate], IsReply: m.Kind != network.RequestMessage}
		if a.IsReply {
			a.Client = to
		}
		what := map[network.MessageKind]string{network.RequestMessage: "request", network.ReplyMessage: "reply", network.RefusalMessage: "refusal"}[m.Kind]
		if m.Purpose != "" {
			what = m.Purpose + " " + what
		}
		if answers[i] != "" {
			what += fmt.Sprintf(" (%s)", answers[i])
		}
		a.Text = fmt.Sprintf("%s %s → %s, sent at %s, ", what, m.From, m.To, seconds(a.Sent))
		switch m.Fate {
		case network.Arrived:
			a.Text += fmt.Sprintf("arrived at %s after %v", seconds(a.Ended), rounded.Duration(time.Duration(a.Ended-a.Sent)))
		case network.TooLate:
			a.Text += fmt.Sprintf("came too late at %s after %v", seconds(a.Ended), rounded.Duration(time.Duration(a.Ended-a.Sent)))
		case network.Lost:
			a.Text += fmt.Sprintf("lost at %s to %s", seconds(a.Ended), m.Why)
		default:
			a.Text += "under way when the run ended"
		}
		b.t.Arrows = append(b.t.Arrows, a)
	}
}

// answers are what the library made of replies, by their places in the recording. It reports an answer when it next runs,
// which may be later than the reply: the answer is that of the last reply of the node since the one before.
func (b *builder) answers() map[int]string {
	type pair struct{ client, node string }
	replies := map[pair][]int{} // that nobody has reported, in the order of their arrival
	messages := b.result.Recording.Messages
	var arrived []int
	for i, m := range messages {
		if m.Kind == network.ReplyMessage && m.Fate == network.Arrived {
			arrived = append(arrived, i)
		}
	}
	slices.SortStableFunc(arrived, func(x, y int) int { return cmp.Compare(messages[x].Ended, messages[y].Ended) })
	answers := map[int]string{}
	next := 0
	for _, e := range b.result.History {
		if e.Kind != history.Step || e.Name != observe.NodeAnswered.String() {
			continue
		}
		for ; next < len(arrived) && int64(messages[arrived[next]].Ended) <= e.Time; next++ {
			m := &messages[arrived[next]]
			replies[pair{m.To, m.From}] = append(replies[pair{m.To, m.From}], arrived[next])
		}
		p := pair{e.Process, e.Node}
		if n := len(replies[p]); n > 0 {
			answers[replies[p][n-1]] = e.Detail
		}
		replies[p] = nil
	}
	return answers
}
