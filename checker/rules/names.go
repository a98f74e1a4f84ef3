package rules

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// callNames are the calls of a lock in words.
var callNames = map[protocols.CallFunc]string{protocols.AcquireCall: "acquire", protocols.ExtendCall: "extend",
	protocols.ReleaseCall: "release", protocols.CloseCall: "Close", protocols.PrepareCall: "PrepareGuard"}

// subjectOf is the resource of a finding about a call: its first, or the first of the run's if it has none.
func (r *Run) subjectOf(c *call) string {
	if len(c.Resources) > 0 {
		return c.Resources[0]
	}
	return r.Resources[0]
}

// nameOf is the name of a call's resources, as the library's steps have it.
func nameOf(c *call) string {
	if len(c.Resources) == 1 {
		return c.Resources[0]
	}
	return strings.Join(slices.Sorted(slices.Values(c.Resources)), separator)
}

// resourcesOf are the resources of such a name.
func resourcesOf(name string) []string { return strings.Split(name, separator) }

const separator = ", "

// and lists names or clauses.
func and(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// quoted are names between quotation marks.
func quoted(names []string) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = fmt.Sprintf("%q", n)
	}
	return all
}

// text is what a call has returned, in words.
func text(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}

// keys has the keys that the lock's clients may name to nodes, each with its resource: none if it is of all.
type keys map[string]string

// keysOf are those that the lock's protocol declares.
func keysOf(r *Run) keys {
	declared := keys{}
	for _, resource := range r.Resources {
		for _, key := range r.Lock.KeysOf(resource) {
			if _, shared := declared[key]; shared {
				declared[key] = ""
			} else {
				declared[key] = resource
			}
		}
	}
	return declared
}

// resourceOf is the resource that a key is for, and whether it is a key of the lock. Nobody declares the keys of a lock of the
// caller's own: there it is the longest name of a resource that is in the key.
func (r *Run) resourceOf(key string) (resource string, known bool) {
	if !r.Foreign {
		resource, known = r.keys[key]
		return resource, known
	}
	if key == driver.GuardKey { // the caller's may be the library
		return "", true
	}
	for _, name := range r.Resources {
		if strings.Contains(key, name) && len(name) > len(resource) {
			resource, known = name, true
		}
	}
	return resource, known
}

// resource is that for which a key stands that stands for one.
func (r *Run) resource(key string) string {
	resource, _ := r.World.LockOf(key)
	return resource
}

// about is what a command with these keys is about: the only resource, or that of the first key that has one.
func (r *Run) about(keys []string) string {
	if len(r.Resources) == 1 {
		return r.Resources[0]
	}
	for _, key := range keys {
		if resource, _ := r.resourceOf(key); resource != "" {
			return resource
		}
	}
	return ""
}
