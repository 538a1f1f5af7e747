package hazards

// The hazards.
const (
	H1  ID = "H1"
	H2  ID = "H2"
	H3  ID = "H3"
	H4  ID = "H4"
	H5  ID = "H5"
	H6  ID = "H6"
	H7  ID = "H7"
	H8  ID = "H8"
	H9  ID = "H9"
	H10 ID = "H10"
	H11 ID = "H11"
	H12 ID = "H12"
	H13 ID = "H13"
	H14 ID = "H14"
	H15 ID = "H15"
	H16 ID = "H16"
	H17 ID = "H17"
	H18 ID = "H18"
	H19 ID = "H19"
	H20 ID = "H20"
	H21 ID = "H21"
	H22 ID = "H22"
	H23 ID = "H23"
	H24 ID = "H24"
	H25 ID = "H25"
	H26 ID = "H26"
	H27 ID = "H27"
	H28 ID = "H28"
	H29 ID = "H29"
	H30 ID = "H30"
	H31 ID = "H31"
	H32 ID = "H32"
	H33 ID = "H33"
	H34 ID = "H34"
	H35 ID = "H35"
	H36 ID = "H36"
	H37 ID = "H37"
	H38 ID = "H38"
	H39 ID = "H39"
	H40 ID = "H40"
	H41 ID = "H41"
	H42 ID = "H42"
	H43 ID = "H43"
	H44 ID = "H44"
	H45 ID = "H45"
	H47 ID = "H47"
	H48 ID = "H48"
	H49 ID = "H49"
	H50 ID = "H50"
	H51 ID = "H51"
	H56 ID = "H56"
	H57 ID = "H57"
	H58 ID = "H58"
	H59 ID = "H59"
	H60 ID = "H60"
)

// table is every hazard, in order.
var table = []Hazard{
	{H1, "a snapshot failed (unborn nested repository, unreadable file, a hook, no gpg), the old or empty tree's id was handed out as the new one, and restoring it wiped the workspace (Gemini CLI #13331, OpenCode #26893, #49732)"},
	{H2, "a file vanished, was cut short or grew while it was read; a directory became a symlink between listing and reading"},
	{H3, "objects were lost between snapshot and restore, and \"could not be read\" was taken for \"did not exist\": files were deleted (OpenCode #3148)"},
	{H4, "an edit of the same size with its time put back, or in the same tick, or flagged assume-unchanged in the user's index, was not seen (T3 Code #9661, Cline #13199)"},
	{H5, "file events were lost or came of the capture itself; a writer that never pauses starved the settle timer (Zed #58021, gitwatch)"},
	{H6, "`git clean -fd`, `reset --hard`, go-git's `Reset` and `Checkout` with force deleted untracked and ignored files (Copilot CLI #1675: about 1 GB)"},
	{H7, "the restored `.gitignore` differed from the present one, so that ignored files counted as untracked (Cline #14367)"},
	{H8, "a file at, above or across the size cap was left out of the snapshot and lost by the restore"},
	{H9, "two agents in one workspace: taking back the work of one took back the other's, or the user's (T3 Code #5512, OpenCode #33940)"},
	{H10, "an agent started in a subdirectory overwrote the siblings with old content (OpenCode #7775)"},
	{H11, "files were written through a symlink to outside the workspace, or under names such as `..`, `.git/hooks/x`, `.GIT`, `git~1`"},
	{H12, "restore rewrote every file: times lost, everything built anew (Zed #59099)"},
	{H13, "killed, or the disk full, in the middle of a restore: half old, half new; deletions done although the writes had failed"},
	{H14, "the snapshot of an empty or wholly ignored workspace, restored, wiped it"},
	{H15, "a read-only file or directory in the way, a file where a directory was, only the exec bit or the case of a name changed"},
	{H16, "`.git` directories were renamed for the capture and left so after a kill (Cline #1313, #9286); submodules, `.git` files, unborn repositories"},
	{H17, "the user's index was clobbered (Codex #8214), commits knocked off a branch (Cline #13550), refs made that other Git clients break on (Codex #28241, #37559), `info/exclude` filled up (Zed #38374)"},
	{H18, "`GIT_DIR`, `GIT_INDEX_FILE` and the like in the environment, `core.hooksPath`, templates, `commit.gpgSign`: the shadow repository became the user's, or ran what is the user's (Roo Code #8811, Hermes)"},
	{H19, "commits, rebases, switches, resets and stashes between snapshots; SHA-256, bare, shallow and partial repositories; no repository; no `git`"},
	{H20, "the user's `git gc --prune=now` removed objects that a snapshot had borrowed"},
	{H21, "line ends and filters: what was restored was not what had been on disk"},
	{H22, "names with newlines, leading `-`, pathspec magic, not UTF-8, very long; FIFOs and devices hung the walk"},
	{H23, "67 s for a cold index (T3 Code), 90 s before each prompt (Cline #13131), the whole transcript handled again at each stop (Entire #2091)"},
	{H24, "533 GB and 318 GB of disk, mostly `tmp_pack_*` of killed children and transcripts stored again each time (OpenCode, Codex); a home directory taken for a workspace, 47 GB (Codex #19588)"},
	{H25, "a stale lock file turned capture off for good, in silence (OpenCode #22275, #42597)"},
	{H26, "eight processes took snapshots of one workspace at once: 56 of 64 failed (OpenCode #48848)"},
	{H27, "a directory lock kept out even readers; 118,144 descriptors from watching everything (agenc)"},
	{H28, "a torn last line, a file appended to while it is copied, lines over 64 KiB, calls without their result, two processes on one file (Claude Code #36583, #35024, #37739)"},
	{H29, "the parent of a fork was removed, and the fork was broken"},
	{H30, "a retry of the same prompt overwrote the snapshot taken before it"},
	{H31, "go-git writes refs by truncating the live file: a kill leaves an empty ref, and one empty ref hides all (measured: 212 of 300 kills)"},
	{H32, "go-git's `Init` with a worktree writes a `.git` file into it, or fails where one exists"},
	{H33, "go-git's repository is not safe for concurrent use; its `Status` and `Add` know no global excludes"},
	{H34, "urfave/cli v2 takes flags after the first argument for arguments, without a word"},
	{H35, "fsnotify is not recursive"},
	{H36, "Badger on a full disk does not return an error: its mapped files fault, and the process dies"},
	{H37, "inotify: files made in a directory before its watch exists give no event (measured: 2,118 of 3,000), nor do writes through a mapping or an outside hard link; a full queue gives one error and silence"},
	{H38, "urfave/cli v2: what follows `--` cannot be told from arguments, `--env A=1,B=2` becomes two values"},
	{H39, "go-git says \"packfile not found\" of every read after another process repacked"},
	{H40, "`exec.Cmd.Wait` does not report a stopped child: Ctrl-Z left a terminal that nobody had"},
	{H41, "the directory of a repository is not called `.git` (`.git.nosync`, `.bare`, `.repo`, one apart): it was captured as files, and a restore took branches back and deleted commits"},
	{H42, "with `extensions.worktreeConfig`, settings that name a place hold in each worktree: a fork of a submodule worked in its source"},
	{H43, "a mount in a directory, from the same disk, has the same device number: it was deleted with the directory"},
	{H44, "a worktree was removed, and a plain directory was made in its place: an agent that worked there committed to the main checkout's branch"},
	{H45, "agents worked in worktrees of their own inside the workspace: what they wrote there was in no snapshot"},
	{H47, "the set of files that Git ignores changed: with the branch, or because an included configuration file was made later"},
	{H48, "a `.gitignore` of `*`, as some tools write one, took all out of later snapshots"},
	{H49, "two files, or a database and its log, were of different moments, though each was read whole"},
	{H50, "a fork's branch could not be merged: both sides had the same work that was not committed"},
	{H51, "snapshots hold bytes as on disk: committed for the user, they by-passed filters and line ends"},
	{H56, "an agent's worktree with nothing uncommitted counted as unchanged: it was removed, and its branch with the commits on it (Claude Code #38287, #27753, #79899)"},
	{H57, "a worktree that Git did not remove was removed by `rm -rf` (Claude Code #58885)"},
	{H58, "a sweep by age removed worktrees with work in them, and those that their user had made beside them (Claude Code #74719, #89199)"},
	{H59, "an agent's end removed the worktree in which another one still worked (Claude Code #88255, #94221)"},
	{H60, "an agent removed a worktree with what was not committed (Claude Code #47074)"},
}

// untestable is what no test here can show, and why.
var untestable = []struct{ what, why string }{
	{"macOS:", "the program builds and is vetted for it, and ran on none. Names in another normalisation and kqueue's descriptors (H22, H35) are as read from documentation."},
	{"Windows:", "Umbra does not run there. That its reserved names (`nul`, `git~1`, streams) are refused or kept as bytes is tested on Linux."},
	{"Network mounts:", "no NFS or SMB server can be had in the tests. The rule for them, a full walk instead of events (H5) and two seconds of distrust in times (H4), is tested by telling Umbra that a file system is of that kind."},
}
