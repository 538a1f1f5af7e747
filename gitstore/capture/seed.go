package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/borrow"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Seed is where a first capture has content from without reading it: the user's
// repository, whose index says which files Git knows and whose objects hold
// them. A file is taken over only if its stat data prove it (usergit.Index's
// Proves), it is not dirty, no filter, ident or encoding applies, and a blob of the file's size
// is in the shadow repository; all others are read.
type Seed struct {
	// Repository is the user's; its work tree holds the workspace.
	Repository *usergit.Repository
	// Attributes are attribute files from outside of it, see
	// usergit.Configuration.
	Attributes []string
	// Store is the shadow repository that blobs are borrowed for.
	Store *shadow.Store
}

// claim is an entry whose content is known, if it is stored.
type claim struct {
	unit  *unit
	entry int
}

// seed takes over what need not be read. Failing, it leaves all to be read: the
// error is for the log. A cancelled context is found by what comes next.
func (c *capturing) seed(w *walker) error {
	if c.options.Seed == nil || c.scanner.base != nil || len(w.units) == 0 {
		return nil
	}
	s := &seeding{Seed: c.options.Seed, capturing: c, walker: w}
	if err := s.run(); err != nil {
		return fmt.Errorf("take over what Git knows: %w", err)
	}
	c.seeded = s.count
	return nil
}

// seeding is one use of a Seed.
type seeding struct {
	*Seed
	capturing *capturing
	walker    *walker
	index     *usergit.Index
	prefix    string // of the workspace in the repository: "" or "a/b/"
	count     int
}

func (s *seeding) run() error {
	user, err := objects.Open(s.Repository.CommonDir)
	if err != nil {
		return err
	}
	defer user.Close()
	if s.index, err = s.Repository.Index(); err != nil {
		return err
	}
	if s.prefix, err = s.capturing.rules.workspaceBelow(s.Repository); err != nil {
		return err
	}
	conversions, err := s.conversions(user)
	if err != nil {
		return err
	}
	claims, wanted := s.claims(conversions)
	if len(claims) == 0 {
		return nil
	}
	borrowed, err := borrow.Borrow(s.capturing.ctx, s.Store, user, wanted)
	if err != nil {
		return err
	}
	s.take(claims, wanted, borrowed.Have)
	return nil
}

// claims finds the entries to be read that the index proves the content of.
func (s *seeding) claims(conversions *conversions) (claims []claim, wanted []borrow.Wanted) {
	for _, u := range s.walker.units {
		if u.scene.system.coarse {
			continue
		}
		dir := s.prefix
		if u.scene.at.path != "" {
			dir += u.scene.at.path + "/"
		}
		for _, i := range u.reads {
			e := &u.node.entries[i]
			id, ok := s.proved(u.scene, dir+e.name, e)
			if ok && !conversions.may(dir+e.name) && !s.capturing.scanner.owed.coversBelow(treepath.Join(u.scene.at.path, e.name)) {
				claims, wanted = append(claims, claim{u, i}), append(wanted, borrow.Wanted{ID: id, Size: e.stat.size})
			}
		}
	}
	return claims, wanted
}

func (s *seeding) proved(scene *scene, path string, e *entry) (id gitstore.ID, ok bool) {
	known := s.index.Lookup(path)
	if len(known) != 1 {
		return id, false
	}
	st := usergit.FileStat{
		Size: e.stat.size, Mtime: e.stat.mtime, Ctime: e.stat.ctime,
		Device: scene.device, Inode: e.stat.inode, Symlink: e.kind == kindSymlink,
	}
	raw, ok := known[0].ID.SHA1()
	return raw, ok && s.index.Proves(&known[0], &st)
}

// take puts in what is stored, and off the list of what is to be read. Stat data
// that Git could trust we can: a later write would show in them.
func (s *seeding) take(claims []claim, wanted []borrow.Wanted, have []bool) {
	for i, claim := range claims {
		if !have[i] {
			continue
		}
		e := &claim.unit.node.entries[claim.entry]
		e.id = wanted[i].ID
		e.flags |= flagTrusted | flagSeeded
		s.count++
	}
	s.walker.units = slices.DeleteFunc(s.walker.units, func(u *unit) bool {
		u.reads = slices.DeleteFunc(u.reads, func(i int) bool { return !u.node.entries[i].id.IsZero() })
		return len(u.reads) == 0
	})
}

// conversions gathers the attribute files in force: those on disk, which count
// for Git, and those in the index, by which it may have added what is there.
func (s *seeding) conversions(user *objects.Reader) (*conversions, error) {
	c := newConversions()
	files := append(slices.Clone(s.Attributes), filepath.Join(s.Repository.CommonDir, "info", "attributes"))
	for _, file := range files {
		data, err := readAttributes(file)
		if err != nil {
			return nil, err
		}
		c.outside(data)
	}
	for i := range s.index.Entries {
		e := &s.index.Entries[i]
		if treepath.Base(e.Path) != attributesName {
			continue
		}
		dir := strings.TrimSuffix(strings.TrimSuffix(e.Path, attributesName), "/")
		if data, err := indexed(user, e); err == nil {
			c.add(dir, data)
		} else {
			c.unknown(dir)
		}
	}
	var dirs []string
	for _, dir := range s.walker.attributes {
		dirs = append(dirs, strings.TrimSuffix(s.prefix+dir, "/"))
	}
	for dir := strings.TrimSuffix(s.prefix, "/"); dir != ""; dir = treepath.Parent(dir) {
		dirs = append(dirs, treepath.Parent(dir))
	}
	for _, dir := range dirs {
		data, err := readAttributes(filepath.Join(s.Repository.TopLevel, filepath.FromSlash(dir), attributesName))
		if err != nil {
			c.unknown(dir)
		}
		c.add(dir, data)
	}
	return c, nil
}

// indexed is the content of an attribute file in the index.
func indexed(user *objects.Reader, e *usergit.Entry) ([]byte, error) {
	if e.Flags.IntentToAdd {
		return nil, nil
	}
	id, _ := e.ID.SHA1() // the objects are
	return user.Blob(id)
}

// readAttributes reads an attribute file; without one there are no attributes.
func readAttributes(path string) ([]byte, error) {
	data, err := usergit.ReadFile(path, MaxIgnoreFile)
	var damaged *usergit.DamagedError
	if errors.As(err, &damaged) || errors.Is(err, syscall.EISDIR) {
		return nil, nil
	}
	return data, passableFile(err)
}

func passableFile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
