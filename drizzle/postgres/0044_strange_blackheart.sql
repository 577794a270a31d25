CREATE TABLE "stored_files" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text,
	"caller" text,
	"name" text NOT NULL,
	"content_type" text NOT NULL,
	"size" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"content" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "stored_files" ADD CONSTRAINT "stored_files_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "stored_files_expiry" ON "stored_files" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "stored_files_of_project" ON "stored_files" USING btree ("project_id","expires_at");--> statement-breakpoint
CREATE INDEX "stored_files_of_user" ON "stored_files" USING btree ("project_id","user_id");