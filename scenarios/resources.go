package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

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

// lockable is what steps can name.
func (s *Scenario) lockable() []string { return slices.Concat(s.Resources, s.Semaphores) }

// Permits is how many permits a semaphore has: the resources of its name with a slash and a number, from 1 on.
func (s *Scenario) Permits(semaphore string) (permits int) {
	for slices.Contains(s.Resources, protocols.PermitOf(semaphore, permits+1)) {
		permits++
	}
	return permits
}

// PermitsOf are the resources that are permits of a semaphore.
func (s *Scenario) PermitsOf(semaphore string) (resources []string) {
	for i := range s.Permits(semaphore) {
		resources = append(resources, protocols.PermitOf(semaphore, i+1))
	}
	return resources
}

// named looks for names of resources that there are not.
func (c *check) named(n *yaml.Node, names []string) {
	for _, name := range names {
		c.known(n, "resource", name, c.s.lockable())
	}
}

// Taken is the resources that a step takes: its own, or the item's, or the first there is. A file says which of several.
func (i *Item) Taken(s *Step, all []string) []string {
	switch {
	case s.Resource != nil:
		return s.Resource
	case i.Resource != nil:
		return i.Resource
	}
	return all[:min(len(all), 1)]
}

// among is which of the locks that a program holds, outermost first, a step is about: the last that was taken, or the last on
// the resources that it names; for an effect, the last whose resources include the one it names. −1 if there is none.
func (s *Step) among(held [][]string) int {
	for i := len(held) - 1; i >= 0; i-- {
		switch {
		case s.Resource == nil:
			return i
		case s.is(effect) && slices.Contains(held[i], s.Resource[0]):
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
