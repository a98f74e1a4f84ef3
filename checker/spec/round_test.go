package spec

import (
	"testing"
	"time"

	"redlocksim/redlock/observe"
)

// The first reading of the clock comes after a round has begun and before its first command leaves: a lease that lasts from
// later on is too long, one from earlier on too short.
func TestTheFirstReadingIsBeforeTheFirstCommand(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	s := &Settings{Drift: func(time.Duration) time.Duration { return 12 * time.Millisecond }}
	for _, c := range []struct {
		until, asked int
		want         string
	}{
		{988, 0, ""}, {989, 1, ""}, {993, 5, ""},
		{994, 5, "it would last 989ms from the first reading of the clock on; TTL and drift allow 988ms"},
		{989, 0, "it would last 989ms from the first reading of the clock on; TTL and drift allow 988ms"},
		{987, 5, "it would last 982ms from the first reading of the clock on; TTL and drift allow 988ms"},
	} {
		e := &Event{At: at(c.until), Event: observe.Event{Until: at(c.until), Validity: 900 * time.Millisecond}}
		if c.asked > 0 {
			e.Asked = at(c.asked)
		}
		if got := validity(e, at(0), at(10), []time.Duration{time.Second}, s); got != c.want {
			t.Errorf("until %d, asked at %d: %q, want %q", c.until, c.asked, got, c.want)
		}
	}
}
