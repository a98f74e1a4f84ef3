package redlock

import (
	"container/list"
	"sync"
)

// maxToken is the largest number up to which Redis' Lua, which has only doubles, tells any two integers apart.
const maxToken = 1<<53 - 1

// rememberedTokens is the number of resources whose token a client remembers. For one that it forgot it begins at 1 again, and
// needs a second round.
const rememberedTokens = 4096

// tokens is what a client knows of fencing tokens: for each resource the highest one that it has proposed or can believe. The
// zero tokens know nothing.
type tokens struct {
	mu     sync.Mutex
	byKey  map[string]*list.Element
	recent list.List // of *knownToken, those used last in front
}

type knownToken struct {
	key   string
	token int64
}

// propose picks a token that is higher than all known ones of the keys, and at least least, which is at most the largest.
func (t *tokens) propose(keys []string, least int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	token := max(least, 1)
	for _, key := range keys {
		if e := t.byKey[key]; e != nil {
			token = max(token, e.Value.(*knownToken).token+1)
		}
	}
	t.raise(keys, token)
	return token
}

// learn notes that the keys' counters have reached a token.
func (t *tokens) learn(keys []string, token int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raise(keys, token)
}

// raise is for t locked. It does not remember the largest token: there is none above it, until the counters are mended, and so
// the nodes are asked.
func (t *tokens) raise(keys []string, token int64) {
	if token >= maxToken {
		return
	}
	if t.byKey == nil {
		t.byKey = map[string]*list.Element{}
	}
	for _, key := range keys {
		if e := t.byKey[key]; e != nil {
			known := e.Value.(*knownToken)
			known.token = max(known.token, token)
			t.recent.MoveToFront(e)
			continue
		}
		t.byKey[key] = t.recent.PushFront(&knownToken{key, token})
		if len(t.byKey) > rememberedTokens {
			t.forget(t.recent.Back())
		}
	}
}

// forget is for t locked.
func (t *tokens) forget(e *list.Element) {
	delete(t.byKey, e.Value.(*knownToken).key)
	t.recent.Remove(e)
}
