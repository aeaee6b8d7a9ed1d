// The pastcone command. Each subcommand is a file of this folder.
#include "pastcone/cli/program.h"

int main(int argc, char** argv) {
  using namespace pastcone::cli;
  Program program;
  add_demo(program);
  add_record(program);
  add_replay(program);
  add_debug(program);
  add_ls(program);
  add_info(program);
  add_ps(program);
  add_events(program);
  add_show(program);
  add_cone(program);
  add_cut(program);
  add_hb(program);
  add_path(program);
  add_races(program);
  add_sql(program);
  add_export(program);
  add_doctor(program);
  add_version(program);
  return program.run(argc, argv);
}
