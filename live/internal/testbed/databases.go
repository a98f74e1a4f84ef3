//go:build linux

package testbed

import (
	"context"
	"fmt"
	"os"

	"redlocksim/live/internal/server"
)

// AddDatabases starts a PostgreSQL server for each node.
func (r *Testbed) AddDatabases(ctx context.Context, names []string) error {
	// The servers may run as another user, who has to get to their directories.
	if err := os.Chmod(r.work.path, 0o711); err != nil {
		return err
	}
	initialized := r.Path("initialized")
	if err := server.InitPostgres(ctx, initialized); err != nil {
		return err
	}
	for i, name := range names {
		s, err := server.NewPostgres(name, r.Path(fmt.Sprintf("node-%d", i)), initialized)
		if err != nil {
			return err
		}
		r.Servers = append(r.Servers, s)
		if err := s.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}
