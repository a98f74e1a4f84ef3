package dpor

import (
	"fmt"
	"slices"

	"redlocksim/scenarios/verdict"
	"redlocksim/sim/kernel"
)

// path is the Scheduler of one run: along the path, and then on to the end by the first option that does not sleep.
type path struct {
	*explorer
	known  int // steps that were looked at in an earlier run
	made   int
	seen   map[kernel.Key]int // options, by the step after which they were there first
	chosen kernel.Option
	late   int
	begun  bool
}

// Choose implements kernel.Scheduler.
func (p *path) Choose(s kernel.Situation) int {
	if s.Now < kernel.True(p.setup.Begin) {
		return ordinarily(s.Options)
	}
	if p.begun {
		p.made++
		p.finish(s)
	} else {
		p.begun, p.seen = true, map[kernel.Key]int{}
	}
	p.memories = p.memories[:0]
	for _, server := range p.world.Servers {
		p.memories = append(p.memories, fingerprintOf(server))
	}
	p.recorded = len(p.world.History())
	for _, o := range s.Options {
		if _, ok := p.seen[o.ID]; !ok {
			p.seen[o.ID] = p.made - 1
		}
	}
	if p.lost != nil {
		return -1
	}
	options := p.allowed(s.Options)
	if p.made >= len(p.frames) && !p.open(options) {
		return -1
	}
	f := &p.frames[p.made]
	p.late = f.late
	p.chosen = f.chosen
	n := slices.IndexFunc(s.Options, func(o kernel.Option) bool { return o.ID == f.chosen.ID })
	if n < 0 || s.Options[n] != f.chosen {
		p.lost = fmt.Errorf("dpor: %s: %w: choice %d, %v, is not there the second time", p.setup.Scenario.Name, verdict.ErrNotRepeated, p.made, f.chosen)
	}
	if f.chosen.Kind == kernel.StepTime && underWay(s.Options) {
		p.late++
	}
	return n
}

// ordinarily chooses before the exploration begins: everything happens at once, and no fault is injected.
func ordinarily(options []kernel.Option) int {
	return slices.IndexFunc(options, func(o kernel.Option) bool { return o.Kind != kernel.StepTimeline })
}

// allowed is the options, without the passing of time if that has passed as often as allowed while messages were under way.
func (p *path) allowed(options []kernel.Option) []kernel.Option {
	if n := len(options) - 1; n >= 0 && options[n].Kind == kernel.StepTime && !p.mayBeLate(p.late) && underWay(options) {
		if p.made >= len(p.frames) {
			p.result.Withheld++
		}
		return options[:n]
	}
	return options
}

// open adds a choice to the end of the path; false if there is nothing to choose.
func (p *path) open(options []kernel.Option) bool {
	if len(options) == 0 {
		return false
	}
	if p.made == maxSteps {
		p.lost = fmt.Errorf("dpor: %s: a run with more than %d choices", p.setup.Scenario.Name, maxSteps)
		return false
	}
	if p.made < cap(p.frames) { // with the memory of one that was there
		p.frames = p.frames[:p.made+1]
	} else {
		p.frames = append(p.frames, frame{})
	}
	f := &p.frames[p.made]
	f.options = append(f.options[:0], options...)
	f.backtrack, f.sleep = f.backtrack[:0], f.sleep[:0]
	f.late = p.late
	if p.setup.brute {
		for _, o := range options {
			f.backtrack = append(f.backtrack, o.ID)
		}
		f.next()
		return true
	}
	if p.made > 0 {
		last := &p.trace[p.made-1]
		for _, z := range p.frames[p.made-1].sleep {
			if !p.depend(z.option, z.footprint, last) {
				f.sleep = append(f.sleep, z)
			}
		}
	}
	for _, o := range options {
		if !f.sleeps(o.ID) {
			f.backtrack, f.chosen = append(f.backtrack, o.ID), o
			return true
		}
	}
	p.blocked = true
	p.frames = p.frames[:p.made]
	return false
}

// finish records the step just made, whose consequences the situation shows, and schedules what could have happened instead at
// earlier points.
func (p *path) finish(s kernel.Situation) {
	i := p.made - 1
	if i < p.known {
		return
	}
	p.trace = append(p.trace[:i], step{option: p.chosen, footprint: p.footprint(p.chosen), creator: p.seen[p.chosen.ID], late: p.frames[i].late})
	if p.setup.brute {
		return
	}
	p.races(i)
	// What this step disabled could have happened before it.
	for _, o := range p.frames[i].options {
		if o.ID != p.chosen.ID && o.Kind != kernel.StepTime && !p.frames[i].tries(o.ID) && !slices.ContainsFunc(s.Options, func(now kernel.Option) bool { return now.ID == o.ID }) {
			p.frames[i].backtrack = append(p.frames[i].backtrack, o.ID)
		}
	}
}
