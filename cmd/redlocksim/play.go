package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/outfile"
	"redlocksim/reports/play"
)

// playFlags are the flags of play.
type playFlags struct {
	address, export string
	force           bool
}

func newPlay() *cobra.Command {
	p := &playFlags{}
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Serve the playground: the simulator in a browser",
		Long: `Serve the playground, and print its address. Its page runs the simulator in the
browser: all scenarios, an editor, sliders for what matters, a search for
something worse, and an audit of your settings. Nothing is sent anywhere.

--export writes it as a static site, for any web server. After the first visit
it works offline. It is compiled from the sources, so it needs Go and the
project's directory.

` + exitcode.Help(exitcode.Specifics{exitOK: "it was written, or served until interrupted", exitUsage: "this is not the project's directory, or the address is taken"}),
		Example: `  redlocksim play
  redlocksim play --address 127.0.0.1:8080
  redlocksim play --export public`,
		Args: cobra.NoArgs,
		RunE: p.run,
	}
	cmd.Flags().StringVar(&p.address, "address", "127.0.0.1:0", "serve at this address; port 0 is any that is free")
	cmd.Flags().StringVar(&p.export, "export", "", "write the site to this directory, and serve nothing")
	addForce(cmd.Flags(), &p.force)
	return cmd
}

func (p *playFlags) run(cmd *cobra.Command, _ []string) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	if _, err := os.Stat(filepath.FromSlash(play.Source)); err != nil {
		return &failure{exitUsage, fmt.Errorf("play builds the simulator for browsers from the sources: run it in the project's directory (%w)", err)}
	}
	to := newSink(cmd, p.force)
	var listener net.Listener
	if p.export != "" {
		to.Force = to.Force || isSite(p.export, to)
		isOurs := func(name string) bool { return slices.Contains(play.Names(), name) }
		if err := to.check(target{flag: "--export", path: p.export, writes: isOurs}); err != nil {
			return err
		}
	} else {
		var err error
		if listener, err = net.Listen("tcp", p.address); err != nil {
			return &failure{exitUsage, fmt.Errorf("--address: %w", err)}
		}
		defer listener.Close()
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "compiling the simulator for browsers…")
	files, err := play.Build(ctx, ".")
	if ctx.Err() != nil {
		return interrupted()
	}
	if err != nil {
		return &failure{exitUsage, err}
	}
	if listener != nil {
		fmt.Fprintf(cmd.OutOrStdout(), "http://%s/\n", listener.Addr())
		return wrap(play.Serve(ctx, listener, files))
	}
	if err := os.MkdirAll(p.export, 0o777); err != nil {
		return cannotWrite("--export", &outfile.WriteError{Err: err})
	}
	for _, name := range play.Names() {
		if err := to.put(file("--export", filepath.Join(p.export, name)), files[name]); err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "wrote the playground to %s\n", p.export)
	return nil
}

// isSite says whether redlocksim wrote the playground in a directory: its page has a mark, which other files cannot have.
func isSite(dir string, to sink) bool {
	page := filepath.Join(dir, "index.html")
	_, err := os.Stat(page)
	return err == nil && to.Check(page) == nil
}
