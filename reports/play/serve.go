package play

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"path"
	"time"
)

// Handler serves a site.
func Handler(files map[string][]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		if r.URL.Path == "/" {
			name = "index.html"
		}
		data, ok := files[name]
		if !ok || r.URL.Path != "/" && r.URL.Path != "/"+name {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if name == engine {
			// It is unpacked by the page, and not on the way to it.
			w.Header().Set("Content-Type", "application/gzip")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	})
}

// Serve serves a site until the context ends, which is no error.
func Serve(ctx context.Context, l net.Listener, files map[string][]byte) error {
	server := &http.Server{Handler: Handler(files), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
