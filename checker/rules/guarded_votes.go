package rules

import (
	"context"
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

var guardedVotesRule = Rule{
	Name:  "guarded-votes",
	Kind:  checker.Contract,
	Needs: "a vote of a node under the restart guard",
	Doc: `
A node votes only while it is fit: it has the guard's record of its own run, with the largest TTL that clients have, and no
quarantine. The call that declares the nodes fit succeeds only if each was fit at some time meanwhile, and otherwise
its error has what became of every node. If all were in order it succeeds, or else is *needlessly-unavailable*. (*redlock*, unless
a replica takes the place of a node.)`,
	New: watchGuardedVotes,
}

// guardedVotes watches the restart guard: a node in quarantine does not vote, and what a call that declares the nodes fit to
// vote returns is what became of them.
type guardedVotes struct {
	*watch
	calm *calm // which takes a node in quarantine for one that is sound
	patience
	preparing []*preparing
}

// preparing is a call that declares the nodes fit, and has not returned.
type preparing struct {
	*call
	changes  int    // of what is wrong, before it began
	wasFit   []bool // at some time since it began, in the order of the Servers
	isClosed bool   // its client, when it began
}

func watchGuardedVotes(r *watch) {
	if !isGuarded(r.Run) || r.FailsOver {
		return
	}
	p, _ := patienceOf(r.Lock, len(r.World.Servers), r.StepTime)
	g := &guardedVotes{watch: r, patience: p, calm: watchCalm(r.Run, false, func() {}, func() {})}
	r.onApplied(g.applied)
	follow(r.Run, &g.preparing, g.called, g.returned)
	r.onChange(g.look)
}

func (g *guardedVotes) called(c *call) *preparing {
	if c.Func != protocols.PrepareCall {
		return nil
	}
	p := &preparing{c, g.calm.changes, make([]bool, len(g.World.Servers)), g.calls.newest(c.Client).isClosed}
	g.lookFor(p)
	return p
}

func (g *guardedVotes) look() {
	for _, p := range g.preparing {
		g.lookFor(p)
	}
}

func (g *guardedVotes) lookFor(p *preparing) {
	for i, s := range g.World.Servers {
		p.wasFit[i] = p.wasFit[i] || g.isFit(s)
	}
}

func (g *guardedVotes) applied(a *redis.Applied) {
	switch {
	case a.Key == driver.GuardKey:
		g.look()
	case slices.Contains(g.Resources, a.Key) && a.Set():
		if g.judged++; g.isFit(a.Server) {
			return
		}
		g.broken(a.Key, "%s votes for %s, although its record of the restart guard does not let it", a.Server.Name(), a.Client.Name())
	}
}

func (g *guardedVotes) returned(p *preparing, err error) {
	resource := g.Resources[0]
	switch wrong := g.wrong(p, err); {
	case wrong != "":
		g.broken(resource, "%s declares the nodes fit to vote and is told %q, but %s", p.Client, text(err), wrong)
	case errors.Is(err, redlock.ErrNotPrepared) && g.isUnhindered(p):
		g.brokenOf(checker.NeedlesslyUnavailable, resource, "%s declares the nodes fit to vote and is told %q, although all are up and in reach", p.Client, text(err))
	}
}

// isUnhindered says whether nothing was in the way of a call.
func (g *guardedVotes) isUnhindered(p *preparing) bool {
	client := g.calm.of(p.Client)
	isWrong := func(w *way) bool { return w.since == kernel.Forever }
	return p.changes == g.calm.changes && p.Context.Err() == nil && client.since != kernel.Forever && !slices.ContainsFunc(client.ways, isWrong) &&
		g.fits(tripOn(client.ways))
}

// wrong says why what a call returned is not what became of the nodes.
func (g *guardedVotes) wrong(p *preparing, err error) string {
	e := (*redlock.Error)(nil)
	switch isError := errors.As(err, &e); {
	case err == nil:
		for i, s := range g.World.Servers {
			if !p.wasFit[i] {
				return s.Name() + " is not fit"
			}
		}
		return ""
	case err == redlock.ErrClosed && p.isClosed, !isError && g.Foreign:
		return ""
	case !isError || e.Op != driver.OpPrepare || !errors.Is(err, redlock.ErrNotPrepared):
		return "that is not the error of such a call"
	case e.Nodes == nil && !p.isStarved:
		return "no node was asked"
	case e.Nodes != nil && len(e.Nodes) != len(p.wasFit):
		return "it is not about all nodes"
	case p.Context.Err() != nil && !errors.Is(err, context.Cause(p.Context)) && (e.Nodes != nil || !p.isStarved):
		return "its context had ended before"
	}
	all := e.Nodes != nil
	for i, node := range e.Nodes {
		isAccepted := node.Outcome == redlock.Accepted
		all = all && isAccepted
		switch name := g.World.Servers[i].Name(); {
		case node.Node != name:
			return "the nodes are in another order"
		case isAccepted && !p.wasFit[i]:
			return name + " is not fit"
		case node.Outcome == redlock.Unanswered && p.Context.Err() == nil:
			return "it has not waited for what became of " + name
		}
	}
	if all {
		return "all nodes are fit"
	}
	return ""
}
