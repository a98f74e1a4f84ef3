package timeline

// draw writes the whole picture of the lanes.
func (p *picture) draw() {
	p.f(`<g class="steps">`)
	p.drawSteps()
	p.f("</g>\n<g class=\"axis\">")
	p.drawAxis()
	p.f("</g>\n")
	p.drawBand()
	for i := range p.t.Lanes {
		p.drawLane(i)
	}
	p.f(`<g class="arrows" clip-path="url(#clip)">`)
	many := p.crowds()
	for i := range p.t.Arrows {
		if p.isStill && p.t.Arrows[i].Folded {
			continue
		}
		p.drawArrow(i, many[p.crowd(&p.t.Arrows[i])])
	}
	p.f("</g>\n")
	p.WriteString(p.labels.String())
	p.drawViolation()
}
