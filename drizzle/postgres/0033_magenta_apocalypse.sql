CREATE TABLE "pinned_tools" (
	"worker_uid" text NOT NULL,
	"project_id" text NOT NULL,
	"tool" text NOT NULL,
	"accepted" text,
	"waiting" text,
	"listed" text,
	"needs" text,
	"is_unstable" boolean NOT NULL,
	"since" bigint NOT NULL,
	"definition" text,
	"mac" text,
	CONSTRAINT "pinned_tools_worker_uid_tool_pk" PRIMARY KEY("worker_uid","tool")
);
--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "held" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "pinning" text;--> statement-breakpoint
ALTER TABLE "pinned_tools" ADD CONSTRAINT "pinned_tools_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "pinned_tools_waiting" ON "pinned_tools" USING btree ("project_id","worker_uid") WHERE waiting is not null;