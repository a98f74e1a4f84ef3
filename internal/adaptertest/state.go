//go:build unix

package adaptertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// setState makes the keys of "a=mine:30s b=theirs:forever c=list".
func setState(t *testing.T, db *redis.Client, state string) {
	t.Helper()
	ctx := context.Background()
	if err := db.FlushDB(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(state) {
		key, held, _ := strings.Cut(field, "=")
		holder, life, _ := strings.Cut(held, ":")
		if holder == "list" {
			if err := db.LPush(ctx, key, mine).Err(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		value := map[string]string{"mine": mine, "theirs": theirs}[holder]
		var ttl time.Duration
		if life != "forever" {
			var err error
			if ttl, err = time.ParseDuration(life); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Set(ctx, key, value, ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// getState writes the keys as setState reads them. A TTL that has run down by less than 5 s is written as the whole.
func getState(t *testing.T, db *redis.Client) string {
	t.Helper()
	ctx := context.Background()
	keys, err := db.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	var fields []string
	for _, key := range keys {
		if db.Type(ctx, key).Val() == "list" {
			fields = append(fields, key+"=list")
			continue
		}
		holder := map[string]string{mine: "mine", theirs: "theirs"}[db.Get(ctx, key).Val()]
		ttl := db.PTTL(ctx, key).Val()
		life := "forever"
		if ttl >= 0 {
			const step = 5 * time.Second
			life = ((ttl + step - 1) / step * step).String()
		}
		fields = append(fields, key+"="+holder+":"+life)
	}
	return strings.Join(fields, " ")
}
