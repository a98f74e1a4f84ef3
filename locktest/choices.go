package locktest

import (
	"fmt"

	"pgregory.net/rapid"

	"redlocksim/faults"
)

// choices are faults.Choices that rapid draws, and makes small when a test has failed.
type choices struct {
	t    *rapid.T
	path string
	made map[string]int64 // by what they are for
}

func newChoices(t *rapid.T) faults.Choices { return &choices{t: t, made: map[string]int64{}} }

// For implements faults.Choices.
func (c *choices) For(part string, number int) faults.Choices {
	own := *c
	own.path = fmt.Sprintf("%s/%s %d", c.path, part, number)
	return &own
}

// parts is how many equal parts a large range is cut into.
const parts = 32

// Below implements faults.Choices. rapid prefers numbers of few bits. Among a few choices that makes little difference, but
// in a large range, such as that of the moments of a run, nearly all would be next to 0. So a part of the range is drawn
// first, a part of that, and then what is preferred in there.
func (c *choices) Below(n int64) int64 {
	if made, ok := c.made[c.path]; ok {
		return made
	}
	from, width := int64(0), n
	for range 2 {
		if width <= parts {
			break
		}
		part := rapid.Int64Range(0, parts-1).Draw(c.t, c.path)
		at := part * (width / parts)
		from += at
		if part == parts-1 { // with what is left over
			width -= at
		} else {
			width /= parts
		}
	}
	if width > 1 {
		from += rapid.Int64Range(0, width-1).Draw(c.t, c.path)
	}
	c.made[c.path] = from
	return from
}
