package goredis

import "redlocksim/internal/redisnode"

var adapter = redisnode.NewAdapter("goredis")

// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server does
// not vote: it would keep locks that cannot be extended or released.
var ErrCommands = adapter.ErrCommands
