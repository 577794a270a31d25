CREATE TABLE "tool_names" (
	"project_id" text NOT NULL,
	"identity" text NOT NULL,
	"source" text NOT NULL,
	"since" bigint NOT NULL,
	"mac" text,
	CONSTRAINT "tool_names_project_id_identity_pk" PRIMARY KEY("project_id","identity")
);
--> statement-breakpoint
ALTER TABLE "toolsets" ADD COLUMN "tool_sources" text;--> statement-breakpoint
ALTER TABLE "tool_names" ADD CONSTRAINT "tool_names_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tool_names_source" ON "tool_names" USING btree ("project_id","source");