package timeline

import (
	"fmt"
)

// crowd is the messages of one client that are sent at about the same place of the picture. Where they are too many to be
// told apart, they are drawn the more faintly the more they are.
type crowd struct{ client, place int }

const (
	crowdWidth = 16 // pixels
	crowded    = 24
	crowdInk   = 4 // how many arrows in full strength a crowd amounts to
)

func (p *picture) crowd(a *Arrow) crowd { return crowd{a.Client, int(p.x(a.Sent)) / crowdWidth} }

func (p *picture) crowds() map[crowd]int {
	many := map[crowd]int{}
	for i := range p.t.Arrows {
		if !p.t.Arrows[i].Folded {
			many[p.crowd(&p.t.Arrows[i])]++
		}
	}
	return many
}

func (p *picture) drawArrow(i, crowd int) {
	a := &p.t.Arrows[i]
	if p.leavesOut(a.Sent, a.Ended) {
		return
	}
	x1, x2, y1, y2 := p.x(a.Sent), p.x(a.Ended), p.wire(a.From), p.wire(a.To)
	y2 = y1 + reach(a)*(y2-y1)
	class := "arrow " + p.style(a.Client) + " " + string(a.Fate)
	if a.IsReply {
		class += " reply"
	}
	class += aside(a.Aside)
	look := ""
	if a.Folded {
		look = ` display="none"`
	} else if crowd > crowded {
		class += " faint"
		look = fmt.Sprintf(` opacity="%.3f"`, float64(crowdInk)/float64(crowd))
	}
	p.f(`<line class="%s" data-i="%d" x1="%s" y1="%s" x2="%s" y2="%s"%s/>`, class, i, n(x1), n(y1), n(x2), n(y2), look)
}

// reach is how far an arrow gets on its way: to the lane that it is for, also if it is lost, and near it if it is still
// under way.
func reach(a *Arrow) float64 {
	if a.Fate == underWayFate {
		return .85
	}
	return 1
}
