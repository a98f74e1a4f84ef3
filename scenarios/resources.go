package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios/protocols"
)

// Resource is the name of what the clients of a scenario contend for if it names nothing.
const Resource = "R"

// maxResources bounds the resources of a scenario.
const maxResources = 1000

// resourceName is what a resource can be called. What begins with a digit, a sign or a dot reads like a length, as in
// "lock: 10s", and histories put ", " between the names of several.
var resourceName = regexp.MustCompile(`^[^-+.,0-9][^,]*$`)

// resources looks at the names of what clients contend for.
func (c *check) resources() {
	n := child(c.n, "resources")
	c.names(n, c.s.Resources, maxResources, "resource")
	for _, name := range c.s.Resources {
		if name != "" && !resourceName.MatchString(name) {
			c.d.Errorf(n, name, nil, "cannot be the name of a resource: it has a comma, or begins as a length does, with a digit, a sign or a dot")
		}
	}
}

// named looks for names of resources that there are not.
func (c *check) named(n *yaml.Node, names []string) {
	for _, name := range names {
		if !slices.Contains(c.s.Resources, name) {
			c.d.Errorf(n, name, c.s.Resources, "there is no such resource")
		}
	}
}

// taken is the resources that a step takes: its own, or the item's, or the first there is. A file says which of several.
func (i *Item) taken(s *Step, all []string) []string {
	switch {
	case s.Resource != nil:
		return s.Resource
	case i.Resource != nil:
		return i.Resource
	}
	return all[:1]
}

// among is which of the locks that a program holds, outermost first, a step is about: the last that was taken, or the last on
// the resources that it names; for an effect, the last whose resources include the one it names. −1 if there is none.
func (s *Step) among(held [][]string) int {
	for i := len(held) - 1; i >= 0; i-- {
		switch {
		case s.Resource == nil:
			return i
		case s.isEffect() && slices.Contains(held[i], s.Resource[0]):
			return i
		case sameSet(s.Resource, held[i]):
			return i
		}
	}
	return -1
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// program looks at the steps of an item: whether they have the locks that they need, and on which resources. wrong is told
// of the index of a step, of a word of it with those that would be right, and of what is wrong.
func (c *check) program(i *Item, wrong func(step int, word string, valid []string, format string, args ...any)) {
	can := c.s.Lock.Capabilities()
	var held, released [][]string
	var written []bool       // under which of them
	var ttls []time.Duration // with which they were taken
	for at := range i.Do {
		s := &i.Do[at]
		if unknown := slices.IndexFunc(s.Resource, func(name string) bool { return !slices.Contains(c.s.Resources, name) }); unknown >= 0 {
			wrong(at, s.Resource[unknown], c.s.Resources, "there is no such resource")
			return
		}
		if s.Kind == CloseStep && !can.Closes {
			wrong(at, string(s.Kind), nil, "protocol %s has no client that could be closed, only redlock has", c.s.Lock.Protocol)
			return
		}
		if why := s.needs(can); why != "" {
			wrong(at, string(s.Kind), nil, "protocol %s %s, only redlock does", c.s.Lock.Protocol, why)
			return
		}
		if s.Kind == WithLockStep && !can.Renews {
			wrong(at, string(s.Kind), nil, "protocol %s has no such call, only redlock has", c.s.Lock.Protocol)
			return
		}
		lock := c.s.Lock
		if s.TTL != 0 {
			lock.TTL = s.TTL
			if err := lock.Check(len(c.s.Nodes.Names)); err != nil {
				wrong(at, string(s.Kind), nil, "%v", err)
				return
			}
		}
		if s.takes() {
			names := i.taken(s, c.s.Resources)
			switch {
			case s.Resource == nil && i.Resource == nil && len(c.s.Resources) > 1:
				wrong(at, string(s.Kind), nil, `does not say which resource: there are several, as in "%s: %s"`, s.Kind, c.s.Resources[0])
				return
			case len(names) > 1 && !can.LocksAll:
				wrong(at, string(s.Kind), nil, "protocol %s cannot lock several resources at once; lock one after the other", c.s.Lock.Protocol)
				return
			}
			if s.Kind == WithLockStep {
				if len(names) > 1 || s.Period > lock.TTL/2 {
					wrong(at, string(s.Kind), nil, "is on one resource, and renews it at least twice in its TTL")
					return
				}
				released = append(released, names)
				continue
			}
			held, written, ttls = append(held, names), append(written, false), append(ttls, lock.TTL)
			continue
		}
		if !s.needsLock() {
			continue
		}
		if s.Released {
			if s.among(released) < 0 {
				wrong(at, string(s.Kind), nil, "there is no lock that was released before")
				return
			}
			continue
		}
		of := s.among(held)
		switch {
		case len(held) == 0:
			wrong(at, string(s.Kind), nil, "there is no lock or try-lock before")
			return
		case of < 0:
			wrong(at, strings.Join(s.Resource, ", "), nil, "is not what a lock is held on that was taken before, which is %s", on(held))
			return
		case s.isEffect() && s.Resource == nil && len(held[of]) > 1:
			wrong(at, string(s.Kind), nil, `does not say which resource: the lock is on several, as in "%s: %s"`, s.Kind, held[of][0])
			return
		case s.Kind == RenewStep && s.Period > ttls[of]/2:
			wrong(at, s.Period.String(), nil, "as a period is more than half of the TTL, %v", ttls[of])
			return
		case s.Kind == UnlockStep:
			released = append(released, held[of])
			held, written, ttls = slices.Delete(held, of, of+1), slices.Delete(written, of, of+1), slices.Delete(ttls, of, of+1)
		case s.reads() && written[of] && protocols.Of[protocols.DBRowSettings](c.s.Lock).Effects == protocols.InTransaction:
			wrong(at, string(s.Kind), nil, "would read back what its own transaction has written and not committed, which no history can say")
			return
		default:
			written[of] = written[of] || s.writes()
		}
	}
}

// on lists what locks are held on.
func on(held [][]string) string {
	var parts []string
	for _, names := range held {
		if len(names) > 1 {
			parts = append(parts, fmt.Sprintf("[%s]", strings.Join(names, ", ")))
		} else {
			parts = append(parts, names[0])
		}
	}
	return strings.Join(parts, " and ")
}
