package main

import "golang.org/x/sys/unix"

// smallDisk mounts a small disk at a directory, with room for a world.
func smallDisk(at string) error {
	return unix.Mount("umbra", at, "tmpfs", 0, "size=160m,nr_inodes=20k,mode=700")
}

// readOnlyDisk has a disk that smallDisk mounted be read only, or no more.
func readOnlyDisk(at string, only bool) error {
	flags := uintptr(unix.MS_REMOUNT)
	if only {
		flags |= unix.MS_RDONLY
	}
	return unix.Mount("umbra", at, "tmpfs", flags, "")
}

// dropDisk takes a small disk away, with all that is on it.
func dropDisk(at string) error { return unix.Unmount(at, unix.MNT_DETACH) }
