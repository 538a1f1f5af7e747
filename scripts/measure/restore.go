package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// measureRestore measures putting back what one turn changed.
func measureRestore(ctx context.Context, b *bench) error {
	subjects, err := b.subjects(ctx, "restore", b.upTo("T10k", "T100k")...)
	if err != nil {
		return err
	}
	f := b.goal("P7")
	for _, c := range []struct {
		files, rounds int
		least         float64
	}{{1, b.samples(12, 4), 30}, {100, b.samples(6, 2), 8}} {
		all := make([]compared, len(subjects))
		for round := -1; round < c.rounds; round++ { // the first warms up
			for i, s := range subjects {
				own, native, err := b.restoreBoth(ctx, s, c.files)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if round >= 0 {
					all[i].own, all[i].native = append(all[i].own, own), append(all[i].native, native)
				}
			}
		}
		for i, s := range subjects {
			f.add(line{s.name + ", " + countFiles(c.files), all[i].own, []peer{{"`git read-tree -u --reset`", all[i].native}}})
		}
		last := len(subjects) - 1
		f.least(subjects[last].name+", "+countFiles(c.files), all[last].faster(), c.least, "×")
	}
	return nil
}

// restoreBoth changes files twice in the same way: Umbra puts them back, and
// then native git does.
func (b *bench) restoreBoth(ctx context.Context, s *subject, files int) (own, native lab.Cost, err error) {
	if _, err = s.session.Prompt(ctx); err != nil {
		return own, native, err
	}
	before, err := s.session.Tip(ctx)
	if err == nil {
		_, err = s.native.Snapshot(ctx)
	}
	if err != nil {
		return own, native, err
	}
	was := s.native.Tip
	kept, err := s.change(files)
	if err == nil {
		_, err = s.session.Stop(ctx)
	}
	if err == nil {
		err = b.Stage.Settle(ctx)
	}
	if err != nil {
		return own, native, err
	}
	own, err = withDaemon(s.daemon, func() (lab.Cost, error) {
		cost, _, err := s.session.Umbra().Run(ctx, s.dir, "restore", "--files-only", "--yes", "--mission", s.session.Mission.ID, before)
		return cost, err
	})
	if err == nil {
		err = s.same(kept)
	}
	if err == nil {
		_, err = s.change(files)
	}
	if err == nil {
		_, err = s.native.Snapshot(ctx)
	}
	if err == nil {
		err = b.Stage.Settle(ctx)
	}
	if err != nil {
		return own, native, err
	}
	if native, err = s.native.Restore(ctx, was); err == nil {
		err = s.same(kept)
	}
	s.native.Forget(was)
	s.version++
	return own, native, err
}

// change gives files their next version and returns what they held before. Done
// again it makes the same changes.
func (s *subject) change(files int) (map[int][]byte, error) {
	kept := map[int][]byte{}
	for n := range files {
		i := (n*s.count/files + s.version) % s.count
		held, err := os.ReadFile(filepath.Join(s.dir, s.files.Path(i)))
		if err != nil {
			return nil, err
		}
		kept[i] = held
		if err := s.files.Write(s.dir, i, 1_000_000+s.version); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// same checks that files hold what they held.
func (s *subject) same(kept map[int][]byte) error {
	var errs []error
	for i, want := range kept {
		got, err := os.ReadFile(filepath.Join(s.dir, s.files.Path(i)))
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("%s is not as it was", s.files.Path(i))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
