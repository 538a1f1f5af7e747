package snapshots

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Workspaces are the directories that this process captures, and what it knows of them.
type Workspaces struct {
	*projects.Desk
	GitPatience time.Duration // usergit.Patience, but for tests

	mu      sync.Mutex
	caches  map[home.FileIdentity]*WorkspaceCache
	walkLog walkLog
	growth  map[string]waitingGrowth // by mission
}

func newWorkspaces(d *projects.Desk) *Workspaces {
	return &Workspaces{
		Desk: d, GitPatience: usergit.Patience,
		caches: map[home.FileIdentity]*WorkspaceCache{}, walkLog: newWalkLog(), growth: map[string]waitingGrowth{},
	}
}

// WorkspaceCache is what this process knows of a directory that it captures: caches, all
// of which prove themselves. It is used under the workspace's lock only.
type WorkspaceCache struct {
	workspaces *Workspaces
	Root       string
	Identity   home.FileIdentity
	project    string // the caches say what is in the store of this project
	generation uint64
	Scanner    *capture.Scanner
	rules      *capture.Rules
	limits     *settings.Limits // nil before they were read
	gitView
	captureState
	SideFiles    conversations.SideFileCache
	published    publishedState
	cacheUnsaved bool // the stat cache on disk is older
	rulesTold    bool // the watcher knows the ignore rules of this workspace
	// knownFiles is what the newest capture knows, for whoever copies the workspace
	// while others capture it.
	knownFiles atomic.Pointer[capture.Known]
}

// publishedState is what is known of snapshots that were published from a directory.
type publishedState struct {
	tree      gitstore.ID         // of the last one: it is whole
	leftOut   []documents.Skipped // files that the snapshot leftOutOf lacks for what they are
	leftOutOf gitstore.ID         // zero if none was asked of
}

// captureState is the capture that is being made, or the last one.
type captureState struct {
	Dirty          missions.Dirty // taken from the watcher, to be given back
	walkReason     string         // why the capture walks, if it does
	owedWalkReason string         // why that walk was owed; it is owed again if the capture comes to nothing
	missedPaths    []string       // changes that the walk found and of which no event told
	changedAt      time.Time      // of the last snapshot here that was not of growth alone; zero if not known
	leavesGrowth   bool           // the capture may come to nothing where files have only grown
	putBack        []string       // files that a restore replaces: captured whatever rule leaves them out
	readsSeeded    bool           // the capture reads a step of the files that were taken over unread
}

// UnknownWorkspace is a workspace of which nothing is known yet.
func (wk *Workspaces) UnknownWorkspace() *WorkspaceCache {
	return &WorkspaceCache{workspaces: wk, SideFiles: conversations.SideFileCache{}}
}

// RefreshWorkspace returns what is known of a mission's workspace. Its rules and its
// repository are read again where they have changed. The caller holds the workspace.
func (wk *Workspaces) RefreshWorkspace(ctx context.Context, m *projects.Mission) (*WorkspaceCache, error) {
	wk.mu.Lock()
	ws := wk.caches[m.Binding.Identity.FileIdentity]
	wk.mu.Unlock()
	if ws == nil || ws.Root != m.Binding.Workspace || ws.project != m.Project.ID {
		scanner, err := capture.OpenScanner(capture.Workspace{
			Root: m.Binding.Workspace, Identity: beneath.Identity(m.Binding.Identity.FileIdentity), Avoid: wk.avoidedDirs(),
		}, wk.Home.StatCacheFile(m.Binding.Identity.FileIdentity), m.Project.Generation())
		if err != nil {
			wk.Logger.Info("the stat cache is of no use, the workspace is read anew", "workspace", m.Binding.Workspace, "reason", err)
		}
		ws = wk.UnknownWorkspace()
		ws.Root, ws.Identity, ws.Scanner = m.Binding.Workspace, m.Binding.Identity.FileIdentity, scanner
		ws.project, ws.generation = m.Project.ID, m.Project.Generation()
		wk.mu.Lock()
		wk.caches[m.Binding.Identity.FileIdentity] = ws
		wk.mu.Unlock()
	}
	if err := ws.readGitConfig(ctx, m); err != nil {
		return nil, err
	}
	return ws, ws.readRules(m)
}

func (ws *WorkspaceCache) readLimits(begun bool) (settings.Limits, error) {
	if !begun {
		return ws.workspaces.CurrentConfig().Capture.NarrowedBy(ws.Root)
	}
	return missionLimits(ws.workspaces.CurrentConfig().Capture, ws.Root, ws.limits), nil
}

// readRules brings the capture rules up to date.
func (ws *WorkspaceCache) readRules(m *projects.Mission) error {
	limits, err := ws.readLimits(m.Tip != nil)
	if err != nil {
		return err
	}
	if ws.rules != nil && reflect.DeepEqual(ws.limits, &limits) {
		ws.rules, err = ws.rules.Refresh()
	} else {
		ws.rules, err = capture.LoadRules(capture.Sources{
			Root: ws.Root, Repository: ws.Repo, Excludes: ws.config.Excludes, IgnoreCase: ws.config.IgnoreCase, Settings: captureSettings(limits),
			Unread: ws.config.Unread != nil, Newest: recordedRules(m.Project, m.Tip),
		})
	}
	ws.limits = &limits
	if err != nil {
		return fmt.Errorf("read the ignore rules of %s: %w", ws.Root, err)
	}
	return nil
}

// recordedRules reads the rules that a mission's newest snapshot recorded, nil if it
// has none.
func recordedRules(p *projects.Project, tip *gitstore.Snapshot) func() ([]byte, error) {
	return func() ([]byte, error) {
		if tip == nil {
			return nil, nil
		}
		return p.ReadRecordDoc(tip, projects.RulesDoc)
	}
}

// CaptureFiles reads the workspace of a mission into batch.
func (ws *WorkspaceCache) CaptureFiles(ctx context.Context, m *projects.Mission, batch *shadow.Batch) (*capture.Result, error) {
	store := m.Project.Store
	ws.Dirty = missions.Dirty{Full: true, Why: ReasonNotWatched}
	if ws.workspaces.Watching != nil {
		ws.Dirty = ws.workspaces.Watching.Take(ctx, ws.Root)
	}
	ws.owedWalkReason = ws.workspaces.TakeWalkReason(ws.Root)
	if ws.walkReason = ws.Dirty.Why; !ws.Dirty.Full {
		ws.walkReason = ws.owedWalkReason
	}
	report := home.CaptureReporter(ctx, ws.Root)
	options := capture.Options{
		Present: store.Has,
		Seed:    ws.captureSeed(store),
		Recheck: recheckedFiles,
		Verify:  ws.owedWalkReason != "",
		Seeded:  ws.readsSeeded,

		LeaveGrowth: ws.leavesGrowth,
		ByTimes:     ws.walkReason == ReasonNotWatched,
		Progress:    report,
		Held:        ws.heldBefore(m).Including(ws.putBack),
	}
	result, err := ws.Scanner.Capture(ctx, batch, ws.rules, capture.Dirty{All: ws.Dirty.Full, Paths: append(ws.Dirty.Trees, ws.Dirty.Paths...)}, options)
	if err != nil {
		ws.ReturnCapture()
		return nil, err
	}
	ws.missedPaths = ws.findMissedPaths(ctx, result.Missed)
	if result.Unseeded != nil {
		ws.workspaces.Logger.Info("all files were read", "workspace", ws.Root, "reason", result.Unseeded)
	}
	return result, nil
}

// captureSeed is what the first capture need not read. It is nil without a repository,
// or without git, which alone knows all attribute files. Nothing is borrowed into a
// scratch store.
func (ws *WorkspaceCache) captureSeed(store *shadow.Store) *capture.Seed {
	if store.IsScratch() || ws.Repo == nil || ws.Repo.Unread != nil || ws.config.Unread != nil || ws.Repo.Format != usergit.SHA1 || !ws.config.Git || ws.config.MayConceal() {
		return nil
	}
	return &capture.Seed{Repository: ws.Repo, Attributes: ws.config.Attributes, Store: store}
}

// avoidedDirs are directories that no snapshot holds.
func (wk *Workspaces) avoidedDirs() []beneath.Identity {
	place, err := projects.DirectoryIdentity(wk.Home.Dir)
	if err != nil {
		return nil
	}
	return []beneath.Identity{beneath.Identity(place.FileIdentity)}
}

// recheckedFiles is how many files with unchanged stat data each capture reads again,
// in rotation: a change that stat can't show (H4) is found in time.
const recheckedFiles = 4

// AcceptCapture makes a capture the start of the next one: its objects are stored. The
// watcher is told of new ignore rules, since no later capture finds that they have
// changed.
func (ws *WorkspaceCache) AcceptCapture(r *capture.Result) {
	ws.Scanner.Accept(r)
	ws.owedWalkReason = ""
	known := ws.Scanner.Known()
	ws.knownFiles.Store(&known)
	ws.cacheUnsaved = ws.cacheUnsaved || r.Stats.ReadFiles+r.Stats.Seeded > 0
	if ws.workspaces.Watching == nil {
		return
	}
	ws.workspaces.countWalk(ws.Root, ws.walkReason, ws.missedPaths, r)
	if !ws.rulesTold || r.RulesChanged {
		ws.TellRules()
	}
}

// isUnwatched reports whether nobody will hear of what happens after the newest
// capture.
func (ws *WorkspaceCache) isUnwatched() bool {
	return ws.workspaces.Watching == nil || ws.Dirty.Why == ReasonNotWatched
}

// TellRules tells the watcher the ignore rules of this workspace.
func (ws *WorkspaceCache) TellRules() {
	ws.rulesTold = true
	ws.workspaces.Watching.Rules(ws.Root, capture.NewFilter(ws.rules, ws.Scanner.Known()).Ignored)
}

// ForgetWorkspace drops the cache of a workspace in which no agent works any more, and
// writes its stat cache first. A workspace that is in use stays.
func (wk *Workspaces) ForgetWorkspace(root string) {
	for _, ws := range wk.CachedWorkspaces() {
		order := wk.WorkspaceMutex(ws.Identity)
		if ws.Root != root || !order.TryLock() {
			continue
		}
		ws.saveStatCache()
		wk.mu.Lock()
		if wk.caches[ws.Identity] == ws {
			delete(wk.caches, ws.Identity)
		}
		wk.mu.Unlock()
		order.Unlock()
	}
}

func (wk *Workspaces) CachedWorkspaces() []*WorkspaceCache {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	return slices.Collect(maps.Values(wk.caches))
}

// ReturnCapture is called for a capture that comes to nothing: the watcher gets back
// what the capture took from it, and the walk that the capture made is owed again.
func (ws *WorkspaceCache) ReturnCapture() {
	if ws.owedWalkReason != "" {
		ws.workspaces.RequestWalk(ws.Root, ws.owedWalkReason)
	}
	if ws.workspaces.Watching != nil {
		ws.workspaces.Watching.Return(ws.Root, ws.Dirty)
	}
}
