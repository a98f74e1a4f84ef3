package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/search/attacks"
)

// ours are the keys of a settings file, which a file of answers can have beside them.
var ours = []string{"title", "resources", "lock", "nodes", "network", "step-time", "storage", "budget"}

// Parse reads a file of answers. Errors are a strictyaml.Errors.
func Parse(path string, data []byte) (*Answers, error) {
	f := file{a: &Answers{file: path}}
	if err := strictyaml.Decode(path, data, &f); err != nil {
		return nil, err
	}
	a := f.a
	var err error
	if a.Settings, err = scenarios.ParseSettingsNode(path, f.settings); err != nil {
		return nil, err
	}
	if a.Library == "" {
		a.Library = a.lib.name
	}
	if err := cmp.Or(f.onRedis(), f.bounded()); err != nil {
		return nil, err
	}
	f.lockDefaults()
	if _, voted := a.Settings.Lock.Votes(1); !voted {
		return a, a.OnOneNode()
	}
	return a, nil
}

// file is a file of answers.
type file struct {
	a        *Answers
	given    map[string]*yaml.Node // the answers by their keys
	settings *yaml.Node
	said     *yaml.Node // settings, without what the library takes for granted
}

// UnmarshalNode makes a settings file of the answers, and of what the file says as such a file does.
func (f *file) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.Errorf(n, "", nil, "want answers, as ttl: 8s, and keys of a settings file")
		return
	}
	f.a.root = n
	f.settings = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	f.given = map[string]*yaml.Node{}
	var keys []string
	for _, a := range All() {
		keys = append(keys, a.Key)
	}
	answers := len(keys)
	for _, key := range ours {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch isOurs := slices.Contains(ours, key.Value); {
		case slices.Contains(keys[:answers], key.Value) && !(isOurs && value.Kind == yaml.MappingNode):
			f.given[key.Value] = value
		case isOurs:
			f.settings.Content = append(f.settings.Content, key, value)
		default:
			d.Errorf(key, key.Value, keys, "unknown key")
		}
	}
	f.library(d)
	for _, a := range All() {
		f.answer(d, a)
	}
	if f.a.nodes = f.given["nodes"]; f.a.nodes == nil && !slices.Contains(f.a.Assumed, "nodes: "+defaultOf("nodes")) {
		f.a.nodes = strictyaml.At(f.settings, namesPath)
	}
	f.renews(d)
	f.said = f.settings
	if f.given["library"] != nil && f.a.lib.lock != "" {
		f.settings = strictyaml.Merge(strictyaml.Under("lock", written(f.a.lib.lock)), f.settings)
	}
}

// renews takes whether the lock is renewed.
func (f *file) renews(d *strictyaml.Decoder) {
	n, lib := f.given["renews"], &f.a.lib
	if n == nil || !d.Decode(n, &f.a.Renews) {
		return
	}
	switch renews := *f.a.Renews; {
	case IsProgram(f.a.Library):
	case renews && lib.extends == "":
		d.Errorf(n, "", nil, "%s cannot extend a lock: leave renews out", lib.name)
	case !renews && lib.always:
		d.Errorf(n, "", nil, "%s renews its locks, and cannot be told not to: leave renews out", lib.name)
	case strictyaml.At(f.settings, watchdogPath) != nil:
		d.Errorf(n, "renews", nil, "%s says the same:", watchdogPath)
	case lib.renews && !lib.always:
		f.put(watchdogPath, written(fmt.Sprint(renews)))
	}
}

func defaultOf(key string) string {
	all := All()
	return all[slices.IndexFunc(all, func(a Answer) bool { return a.Key == key })].Default
}

// onOneRedis are libraries with a lock on one Redis, by the names that people give them, in small letters. Some are nearly
// those of other locks.
var onOneRedis = []string{"redislock", "redis-lock", "redis_lock", "redis-py", "python-redis-lock", "django-redis", "shedlock", "bullmq", "laravel",
	"spring-integration", "redislockregistry", "redis-mutex", "redis-semaphore", "set-nx", "setnx"}

// library takes the name of the library.
func (f *file) library(d *strictyaml.Decoder) {
	n := f.given["library"]
	named, name := "", ourLibrary
	for _, path := range []string{"lock.protocol", "lock.preset"} {
		if at := strictyaml.At(f.settings, path); at != nil {
			named, name = path, at.Value
		}
	}
	if named == "lock.preset" {
		name = ofPreset(name)
	}
	f.a.lib, _ = libraryOf(name)
	var word string
	switch {
	case n == nil && named == "":
		f.a.Library = defaultOf("library")
		f.a.Assumed = append(f.a.Assumed, "library: "+f.a.Library)
		return
	case n == nil || !d.Decode(n, &word):
		return
	case named != "":
		d.Errorf(n, "library", nil, "%s says the same:", named)
		return
	}
	var isKnown bool
	f.a.Library = word
	switch f.a.lib, isKnown = libraryOf(word); {
	case isKnown || IsProgram(word):
	case slices.Contains(onOneRedis, strings.ToLower(word)):
		d.Errorf(n, word, nil, "the lock of this library is SET NX PX on one Redis; say single (and lock: {release: del} if it deletes the key whoever has it) in place of")
	default:
		d.Errorf(n, word, libraryNames(), "no such library; for SET NX PX on one Redis, as by redis-py, say single; a Go program can be a .wasm file:")
	}
}

// answer takes an answer, or what is taken for granted in its place.
func (f *file) answer(d *strictyaml.Decoder, a Answer) {
	n, said := f.given[a.Key]
	setting := a.path != "" && strictyaml.At(f.settings, a.path) != nil
	switch {
	case a.Key == "library" || a.Key == "renews": // taken already
		return
	case said && setting:
		d.Errorf(n, a.Key, nil, "%s says the same:", a.path)
		return
	case !said && (setting || a.Default == ""):
		return
	case !said:
		if a.Key == "nodes" && f.a.lib.name == "one-redis" { // which would refuse more
			a.Default = "1"
		}
		f.a.Assumed = append(f.a.Assumed, a.Key+": "+a.Default)
		n = written(a.Default)
		n.Line, n.Column = f.settings.Line, f.settings.Column
	}
	switch a.Key {
	case "work":
		if d.Decode(n, &f.a.Work) && f.a.Work < 0 {
			d.Errorf(n, n.Value, nil, "must not be negative")
		}
		return
	case "failover":
		d.Decode(n, &f.a.Failover)
		return
	}
	value := n
	if a.translate != nil {
		if value = a.translate(d, n); value == nil {
			return
		}
		value.Line, value.Column = n.Line, n.Column
	}
	f.put(a.path, value)
	switch {
	case a.Key == "rtt": // both ways together
		f.put("network.replies", written("0s"))
	case a.Key == "fencing" && value.Value == "fenced":
		f.tokens(d, n)
	}
}

// tokens has the lock give the fencing tokens that the resource looks at.
func (f *file) tokens(d *strictyaml.Decoder, n *yaml.Node) {
	switch {
	case strictyaml.At(f.settings, "lock.fencing") != nil || strictyaml.At(f.settings, "lock.tokens") != nil:
	case f.a.lib.name != ourLibrary && !IsProgram(f.a.Library):
		d.Errorf(n, "", nil, "the lock gives no fencing tokens that the resource could compare: leave fencing out, or choose a library that gives them (library: redlock)")
	default:
		f.put("lock.fencing", written("true"))
	}
}

// put puts a value at a path of the settings where nothing is.
func (f *file) put(path string, value *yaml.Node) {
	f.settings = strictyaml.Merge(f.settings, strictyaml.Under(path, value))
}

// onRedis refuses locks on anything else, which assume other things.
func (f *file) onRedis() error {
	service := f.a.Settings.Lock.Capabilities().Service
	if service == "" {
		return nil
	}
	at := strictyaml.At(f.settings, "lock.protocol")
	e := strictyaml.Errorf(f.a.file, at.Line, at.Column, at.Value, libraryNames(), "locks on a %s, and an audit is of locks on Redis:", service)
	e.Path = "lock.protocol"
	return strictyaml.Errors{e}.Err()
}

// bounded refuses times that are longer than a schedule takes.
func (f *file) bounded() error {
	s := f.a.Settings
	var wrong strictyaml.Errors
	for _, x := range []struct {
		key, path string
		is        time.Duration
	}{
		{"ttl", ttlPath, s.Lock.TTL}, {"work", "", f.a.Work}, {"restart-delay", "budget.restart-delay", restartDelay(s)},
		{"clock-step", "budget.clock-step", s.Budget.ClockStep}, {"pause", "budget.pause", s.Budget.Pause}, {"", "budget.suspend", s.Budget.Suspend},
		{"", "budget.delay", s.Budget.Delay}, {"rtt", "network", roundTripOf(s)}, {"node-timeout", nodeTimeoutPath, s.Lock.NodeTimeout}, {"", "lock.guard-time", s.Lock.GuardTime},
	} {
		if x.is <= attacks.MaxLength {
			continue
		}
		at := f.given[x.key]
		if at == nil && x.path != "" {
			at = strictyaml.At(f.settings, x.path)
		}
		e := strictyaml.Errorf(f.a.file, at.Line, at.Column, x.is.String(), nil, "is longer than %v, the most that is tried:", attacks.MaxLength)
		if e.Path = x.key; x.key == "" {
			e.Path = x.path
		}
		wrong = append(wrong, e)
	}
	return wrong.Err()
}

// lockDefaults says what the lock itself takes for granted, and what nobody said.
func (f *file) lockDefaults() {
	a := f.a
	for _, x := range []struct {
		key, path string
		is        time.Duration
	}{{"ttl", ttlPath, a.Settings.Lock.TTL}, {"node-timeout", nodeTimeoutPath, a.Settings.Lock.NodeTimeout}} {
		if f.given[x.key] == nil && strictyaml.At(f.said, x.path) == nil {
			a.Assumed = append(a.Assumed, x.key+": "+x.is.String())
		}
	}
	switch a.lib.name {
	case "redisson":
		a.Assumed = append(a.Assumed, "library: redisson is its RLock, on one Redis; its RedissonRedLock on several is redisson-multi")
	case "redisson-multi":
		a.Assumed = append(a.Assumed, "library: redisson-multi is RedissonRedLock, on several independent nodes; RLock on one Redis is redisson")
	}
	if a.Renews == nil && a.lib.extends != "" {
		a.Assumed = append(a.Assumed, fmt.Sprintf("renews: %t", a.lib.renews))
	}
	if f.given["work"] == nil {
		a.Assumed = append(a.Assumed, "work: not said, so that nothing tells whether the lock outlasts it")
	}
}
