package missions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// workspace is what this process knows of a directory it captures: caches, all
// of which prove themselves. It is used under the workspace's lock only.
type workspace struct {
	l          *Local
	root       string
	place      Place
	project    string // whose store has what the caches say is there
	generation uint64
	scanner    *capture.Scanner
	rules      *capture.Rules
	limits     *settings.Limits // nil before they were read
	repo       *usergit.Repository
	config     *usergit.Configuration
	stamps     map[string]fileStamp // of the files the configuration came from
	git        *userGit
	sides      knownSides
	published  gitstore.ID // the tree of the last snapshot published from here: it is whole
	unsaved    bool        // the stat cache on disk is older
	ruled      bool        // the watcher knows its ignore rules
	dirty      Dirty       // taken from the watcher, to be given back
	why        string      // why the newest capture walks, if it does
	owed       string      // why that walk was owed, to be owed again if nothing comes of it
	missed     []string    // what it found then of which no event told
	seeded     bool        // the next capture reads a step of what was taken over unread
	// known is what the newest capture knows, for whoever copies the workspace
	// while others capture it.
	known atomic.Pointer[capture.Known]
}

// workspace returns what is known of a mission's workspace, its rules and its
// repository read afresh where they have changed. The caller holds the
// workspace, so nobody else makes it known meanwhile.
func (l *Local) workspace(ctx context.Context, m *loaded) (*workspace, error) {
	l.mu.Lock()
	ws := l.workspaces[m.bind.Place]
	l.mu.Unlock()
	if ws == nil || ws.root != m.bind.Workspace || ws.project != m.project.ID {
		scanner, err := capture.OpenScanner(capture.Workspace{
			Root: m.bind.Workspace, Identity: beneath.Identity(m.bind.Place), Avoid: l.avoid(),
		}, l.home.statCache(m.bind.Place), m.project.generation())
		if err != nil {
			l.log.Info("the stat cache is of no use, the workspace is read anew", "workspace", m.bind.Workspace, "reason", err)
		}
		ws = &workspace{l: l, root: m.bind.Workspace, place: m.bind.Place, project: m.project.ID, generation: m.project.generation(), sides: knownSides{}, scanner: scanner}
		l.mu.Lock()
		l.workspaces[m.bind.Place] = ws
		l.mu.Unlock()
	}
	if err := ws.readConfig(ctx, m); err != nil {
		return nil, err
	}
	return ws, ws.readRules(m)
}

// readConfig finds the user's repository, and reads the user's Git
// configuration if one of its files has changed.
func (ws *workspace) readConfig(ctx context.Context, m *loaded) error {
	repo, err := usergit.Discover(ws.root)
	if errors.Is(err, usergit.ErrNoRepository) {
		repo, err = nil, nil
	}
	if err != nil {
		return Errorf(KindFailed, "", "read the repository of %s: %w", ws.root, err)
	}
	if repo != nil && (repo.Bare || repo.TopLevel == "") {
		repo = nil
	}
	same := ws.config != nil && sameRepository(ws.repo, repo)
	ws.repo = repo
	if !same || ws.git == nil {
		ws.git, ws.rules = nil, nil
		if repo != nil {
			ws.git = &userGit{repo: repo}
		}
	}
	if same && ws.config.Unread == nil && ws.configUnchanged() {
		return nil
	}
	config, err := usergit.ReadConfiguration(ctx, ws.root, repo, m.gitEnv(), ws.l.gitPatience)
	if err != nil {
		return fmt.Errorf("read git's configuration for %s: %w", ws.root, err)
	}
	ws.config, ws.rules, ws.stamps = config, nil, map[string]fileStamp{}
	for _, file := range config.Files {
		ws.stamps[file] = stampOf(file)
	}
	return nil
}

// sameRepository reports whether what was known of one repository counts for the
// other: they are one, and as much of it can be read.
func sameRepository(a, b *usergit.Repository) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.GitDir == b.GitDir && (a.Unread == nil) == (b.Unread == nil) && (a.Unread == nil || a.Unread.Error() == b.Unread.Error())
}

func (ws *workspace) configUnchanged() bool {
	for file, stamp := range ws.stamps {
		if stampOf(file) != stamp {
			return false
		}
	}
	return true
}

func (ws *workspace) readLimits(begun bool) (settings.Limits, error) {
	if !begun {
		return ws.l.config.Capture.NarrowedBy(ws.root)
	}
	return limitsOf(ws.l.config.Capture, ws.root, ws.limits), nil
}

// readRules brings the capture rules up to date.
func (ws *workspace) readRules(m *loaded) error {
	limits, err := ws.readLimits(m.tip != nil)
	if err != nil {
		return err
	}
	if ws.rules != nil && reflect.DeepEqual(ws.limits, &limits) {
		ws.rules, err = ws.rules.Refresh()
	} else {
		ws.rules, err = capture.LoadRules(capture.Sources{
			Root: ws.root, Repository: ws.repo, Excludes: ws.config.Excludes, IgnoreCase: ws.config.IgnoreCase, Settings: captureSettings(limits),
			Unread: ws.config.Unread != nil, Newest: newestRules(m.project, m.tip),
		})
	}
	ws.limits = &limits
	if err != nil {
		return fmt.Errorf("read the ignore rules of %s: %w", ws.root, err)
	}
	return nil
}

// newestRules gives the rules that a mission's newest snapshot recorded, nil where
// it has none.
func newestRules(p *project, tip *gitstore.Snapshot) func() ([]byte, error) {
	return func() ([]byte, error) {
		if tip == nil {
			return nil, nil
		}
		return p.recordDoc(tip, rulesDoc)
	}
}

// capture reads the workspace into batch; tip is the mission's newest snapshot,
// nil if this becomes its first.
func (ws *workspace) capture(ctx context.Context, store *gitstore.Store, batch *gitstore.Batch, tip *gitstore.Snapshot) (*capture.Result, error) {
	ws.dirty = Dirty{Full: true, Why: NotWatched}
	if ws.l.watching != nil {
		ws.dirty = ws.l.watching.Take(ctx, ws.root)
	}
	ws.owed = ws.l.takeOwedWalk(ws.root)
	if ws.why = ws.dirty.Why; !ws.dirty.Full {
		ws.why = ws.owed
	}
	tell := readingTeller(ctx, ws.root)
	options := capture.Options{
		Present:  store.Has,
		Seed:     ws.seed(store),
		Recheck:  rechecked,
		Verify:   ws.owed != "",
		Seeded:   ws.seeded,
		ByTimes:  ws.why == NotWatched,
		Progress: tell,
	}
	if tip != nil {
		options.Held = (&held{store: store, tree: tip.Tree}).has
	}
	result, err := ws.scanner.Capture(ctx, batch, ws.rules, capture.Dirty{All: ws.dirty.Full, Paths: append(ws.dirty.Trees, ws.dirty.Paths...)}, options)
	if err != nil {
		ws.giveBack()
		return nil, err
	}
	ws.missed = ws.unheard(ctx, result.Missed)
	if result.Unseeded != nil {
		ws.l.log.Info("all files were read", "workspace", ws.root, "reason", result.Unseeded)
	}
	return result, nil
}

// seed is what the first capture need not read, nil without a repository that
// could tell, or without git, which alone knows all attribute files. Nothing is
// borrowed into a scratch.
func (ws *workspace) seed(store *gitstore.Store) *capture.Seed {
	if store.IsScratch() || ws.repo == nil || ws.repo.Unread != nil || ws.config.Unread != nil || ws.repo.Format != usergit.SHA1 || !ws.config.Git || ws.config.MayConceal() {
		return nil
	}
	return &capture.Seed{Repository: ws.repo, Attributes: ws.config.Attributes, Store: store}
}

// avoid are directories that are in no snapshot, wherever they are met.
func (l *Local) avoid() []beneath.Identity {
	place, err := placeOf(l.home.Dir)
	if err != nil {
		return nil
	}
	return []beneath.Identity{beneath.Identity(place)}
}

// rechecked is how many files whose stat data have not changed are read again
// at each capture, in rotation: what stat can't see (H4) is found in time.
const rechecked = 4

// generation tells one object store from another: what is in one need not be in
// the next. It is the project's, since nothing prunes yet.
func (p *project) generation() uint64 {
	digits, _, _ := strings.Cut(p.ID, "-")
	n, _ := strconv.ParseUint(digits, 16, 64)
	return n
}

// accept makes a capture what the next one starts from: its objects are stored.
// The watcher is told of ignore rules that are others now, whoever captures and
// for whatever: no later capture will find that they have changed.
func (ws *workspace) accept(r *capture.Result) {
	ws.scanner.Accept(r)
	ws.owed = ""
	known := ws.scanner.Known()
	ws.known.Store(&known)
	ws.unsaved = ws.unsaved || r.Stats.ReadFiles+r.Stats.Seeded > 0
	if ws.l.watching == nil {
		return
	}
	ws.l.noteWalk(ws.root, ws.why, ws.missed, r)
	if !ws.ruled || r.RulesChanged {
		ws.tellRules()
	}
}

// unwatched tells that nobody will hear of what happens after the newest capture.
func (ws *workspace) unwatched() bool { return ws.l.watching == nil || ws.dirty.Why == NotWatched }

// tellRules tells the watcher of the ignore rules that are in force.
func (ws *workspace) tellRules() {
	ws.ruled = true
	ws.l.watching.Rules(ws.root, capture.NewFilter(ws.rules).Ignored)
}

// save writes the stat cache, so that the next process need not read every file
// again. It is a cache: a failure is only told in the log.
func (ws *workspace) save() {
	if !ws.unsaved {
		return
	}
	if err := ws.l.saveScanner(ws.scanner, ws.place, ws.generation); err != nil {
		ws.l.log.Warn("save the stat cache", "workspace", ws.root, "error", err)
		return
	}
	ws.unsaved = false
}

// Rest is for the process that watches, when nothing is asked of it: it writes
// the stat caches that are newer than what is on disk, of workspaces that nobody
// uses now. It reports whether it wrote any.
func (l *Local) Rest() bool {
	wrote := false
	for _, ws := range l.knownWorkspaces() {
		order := l.orderOf(ws.place)
		if !order.TryLock() {
			continue
		}
		wrote = wrote || ws.unsaved
		ws.save()
		order.Unlock()
	}
	return wrote
}

// Forget drops what is cached of a workspace in which no agent works any more;
// the stat cache is written first. One that is in use stays.
func (l *Local) Forget(root string) {
	for _, ws := range l.knownWorkspaces() {
		order := l.orderOf(ws.place)
		if ws.root != root || !order.TryLock() {
			continue
		}
		ws.save()
		l.mu.Lock()
		if l.workspaces[ws.place] == ws {
			delete(l.workspaces, ws.place)
		}
		l.mu.Unlock()
		order.Unlock()
	}
}

func (l *Local) knownWorkspaces() []*workspace {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.workspaces))
}

// giveBack returns to the watcher what a capture took that was not published, and
// owes the walk again that it made.
func (ws *workspace) giveBack() {
	if ws.owed != "" {
		ws.l.oweWalk(ws.root, ws.owed)
	}
	if ws.l.watching != nil {
		ws.l.watching.Return(ws.root, ws.dirty)
	}
}

// author is the user's Git identity.
type author struct{ name, email string }

func (a author) at(t time.Time) gitstore.Signature {
	return gitstore.Signature{Name: a.name, Email: a.email, When: t}
}

func (ws *workspace) author() author { return author{ws.config.Name, ws.config.Email} }

// refusedRoot reports whether a workspace was refused for what it is.
func refusedRoot(err error) bool {
	var refused *capture.RootError
	return errors.As(err, &refused)
}
