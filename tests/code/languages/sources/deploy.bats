load helper

@test "copies each file" {
  run copy_files a
  if [ "$status" -eq 0 ]; then restart; fi
}

@test 'restarts' {
  restart
}
