package watcher

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// recursive: a watch costs no descriptor, so every directory gets one.
const recursive = true

// Where the limits on a user's watches and inotify instances are (inotify(7)).
const (
	watchesFile   = "/proc/sys/fs/inotify/max_user_watches"
	instancesFile = "/proc/sys/fs/inotify/max_user_instances"
)

// local are the file systems that report each change made on this machine, and
// on which none is made elsewhere (statfs(2); those without a name in unix are
// ZFS, NTFS3, HFS+ and JFS). What is not known here is not trusted.
func local(magic uint32) bool {
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.BCACHEFS_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC, unix.NILFS_SUPER_MAGIC,
		unix.ECRYPTFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC,
		unix.SQUASHFS_MAGIC, unix.ISOFS_SUPER_MAGIC, unix.UDF_SUPER_MAGIC,
		0x2fc12fc1, 0x7366746e, 0x482b, 0x3153464a:
		return true
	}
	return false
}

// reliable returns why events below path can't be relied on, or nothing.
func reliable(path string) why {
	var st unix.Statfs_t
	err := unix.Statfs(path, &st)
	for err == unix.EINTR {
		err = unix.Statfs(path, &st)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return why{} // a missing root is found out elsewhere
	case err != nil:
		return why{WhyFileSystem, err.Error()}
	case !local(uint32(st.Type)):
		return why{WhyFileSystem, fmt.Sprintf("type %#x", uint32(st.Type))}
	}
	return why{}
}

func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// overLimit reports whether inotify_add_watch(2) ran into the user's limit.
func overLimit(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, errTooMany) }

// watchLimit is how many watches a user may have, or 0.
func watchLimit() int { return limitIn(watchesFile) }

func limitIn(file string) int {
	var n int
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &n); err != nil {
		return 0
	}
	return n
}

func limitHint() string {
	return fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d", max(2*watchLimit(), 524288))
}

// instanceHint is what to type if inotify_init1(2) found no instance left.
func instanceHint(err error) string {
	if errors.Is(err, unix.EMFILE) {
		return fmt.Sprintf("sudo sysctl fs.inotify.max_user_instances=%d", max(2*limitIn(instancesFile), 512))
	}
	return ""
}
