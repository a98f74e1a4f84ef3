// Package lockkeys tells which keys of a Redis node stand for a lock, by the patterns that somebody's lock declares.
package lockkeys

import (
	"regexp"
	"strings"
)

// Resource is what a pattern has in the place of the name of what is locked.
const Resource = "{resource}"

// Keys are patterns for the resources of a run.
type Keys []pattern

type pattern struct {
	exact    string // the only key, if any is nil
	any      *regexp.Regexp
	resource string
}

// Of are patterns, in which * stands for anything, for some resources. Without a pattern the keys have the resources' names.
func Of(patterns, resources []string) (all Keys) {
	if patterns == nil {
		patterns = []string{Resource}
	}
	for _, declared := range patterns {
		for _, name := range resources {
			p := pattern{exact: strings.ReplaceAll(declared, Resource, name), resource: name}
			if strings.Contains(declared, "*") {
				text := strings.ReplaceAll(regexp.QuoteMeta(declared), `\*`, ".*")
				text = strings.ReplaceAll(text, regexp.QuoteMeta(Resource), regexp.QuoteMeta(name))
				p.any = regexp.MustCompile("^(?s:" + text + ")$")
			}
			all = append(all, p)
		}
	}
	return all
}

func (p *pattern) matches(key string) bool {
	if p.any == nil {
		return key == p.exact
	}
	return p.any.MatchString(key)
}

// Of is the resource for which a key stands, as the lock or as a part of it; false if it stands for none.
func (k Keys) Of(key string) (resource string, is bool) {
	for i := range k {
		if p := &k[i]; p.matches(key) {
			return p.resource, true
		}
	}
	return "", false
}
