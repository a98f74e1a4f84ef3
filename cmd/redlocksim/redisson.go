package main

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Redisson keeps a lock as a hash: a field for each thread that has it, "UUID:THREAD", and in it how often that has
// locked it. The lock of a RReadWriteLock has a field "mode" as well, "read" or "write", and each of its readers a
// string with the time to live. A RFencedLock has a counter of tokens.

// The kinds of Redisson's locks.
const (
	redisson      = "redisson"
	redissonRead  = "redisson-read"
	redissonWrite = "redisson-write"
)

const (
	redissonHolder = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+`
	redissonToken  = "redisson_lock_token:{"
	// maxHolders is how many fields a hash may have that is taken for a lock: one for each reader.
	maxHolders = 1000
)

var (
	holderField   = regexp.MustCompile(`^` + redissonHolder + `(:write)?$`)
	readerTimeout = regexp.MustCompile(`:` + redissonHolder + `:rwlock_timeout:\d+$`)
)

func isReaderTimeout(key string) bool { return readerTimeout.MatchString(key) }

// fencedByRedisson is the lock that a counter of tokens belongs to; empty if the key is no such counter.
func fencedByRedisson(key string) string {
	name, is := strings.CutPrefix(key, redissonToken)
	if !is || !strings.HasSuffix(name, "}") {
		return ""
	}
	return strings.TrimSuffix(name, "}")
}

// readHashes takes note of keys that are no strings, some of which may be locks of Redisson.
func (f *found) readHashes(ctx context.Context, client *redis.Client, keys []lockKey) error {
	if len(keys) == 0 {
		return nil
	}
	lengths, names := make([]*redis.IntCmd, len(keys)), make([]*redis.StringSliceCmd, len(keys))
	// Exec's error is that of one of the commands.
	_, _ = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, k := range keys {
			lengths[i] = p.HLen(ctx, k.key)
		}
		return nil
	})
	_, _ = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, k := range keys {
			if n := lengths[i].Val(); 0 < n && n <= maxHolders {
				names[i] = p.HKeys(ctx, k.key)
			}
		}
		return nil
	})
	for i, k := range keys {
		err := lengths[i].Err()
		var fields []string
		if err == nil && names[i] != nil {
			fields, err = names[i].Result()
		}
		if err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") {
			return err
		}
		f.addHash(k, fields)
	}
	return nil
}

// addHash takes note of a hash with these fields; none for what is no hash, or too large a one.
func (f *found) addHash(k lockKey, fields []string) {
	isReadWrite := slices.Contains(fields, "mode")
	holders := slices.DeleteFunc(fields, func(field string) bool { return field == "mode" })
	if len(holders) == 0 || slices.ContainsFunc(holders, func(field string) bool { return !holderField.MatchString(field) }) {
		f.others++
		return
	}
	for _, holder := range holders {
		kind, value := redisson, holder
		if isReadWrite {
			kind = redissonRead
			if thread, writes := strings.CutSuffix(holder, ":write"); writes {
				kind, value = redissonWrite, thread
			}
		}
		f.locks = append(f.locks, lockKey{k.key, value, k.left, kind})
	}
}
